"""Section 2: the linear autoencoder, copying, the denoiser's correction, and thresholds."""

import numpy as np
from digits import autoencoder, digits
from digits_anomaly import figures, parts
from scipy.linalg import subspace_angles

from assay.anomaly.threshold import percentile_threshold
from assay.compress import Autoencoder
from assay.compress.baselines import PCA


def measure() -> dict[str, dict[str, float]]:
    """Return what is measured for each fact of this section."""
    return {
        "004-s2-linear-ae-pca": linear_is_pca(),
        "004-s2-linear-ae-mixing": mixing(),
        "004-s2-overcomplete": copying(),
        "004-s2-denoiser-score": denoiser(),
        **thresholds(),
        "004-s2-contaminated": contaminated(),
    }


def linear_is_pca() -> dict[str, float]:
    """Train a linear autoencoder on correlated rows and compare it with the eigenvectors."""
    rng = np.random.default_rng(0)
    spread = np.array([3.0, 2.0, 1.4, 0.7, 0.5, 0.3, 0.2, 0.1])
    X = rng.normal(size=(600, 8)) * spread @ np.linalg.qr(rng.normal(size=(8, 8)))[0]
    X -= X.mean(axis=0)
    model = Autoencoder(
        code_size=3, linear=True, scaling="none", epochs=3000, batch=600, learning_rate=2e-2,
        schedule="cosine", validation_fraction=0.0, precision="float64",
    ).fit(X)  # fmt: skip
    values, vectors = np.linalg.eigh(X.T @ X / len(X))
    discarded = values[:-3].sum()
    error = np.sum((X - model.reconstruct(X)) ** 2, axis=1).mean()
    # The decoder's range: what codes reach from the zero code.
    reach = model.inverse_transform(np.eye(3)) - model.inverse_transform(np.zeros((1, 3)))
    angle = np.degrees(subspace_angles(reach.T, vectors[:, -3:])).max()
    return {"relative error": abs(error - discarded) / discarded, "angle": angle}


def mixing() -> dict[str, float]:
    """Mix the codes of PCA by an invertible matrix: the reconstruction does not change."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 6)) @ rng.normal(size=(6, 6))
    pca = PCA(code_size=3, scaling="none").fit(X)
    A = rng.normal(size=(3, 3)) + 3.0 * np.eye(3)
    mixed = pca.inverse_transform(pca.transform(X) @ A.T @ np.linalg.inv(A).T)
    plain, other = (np.mean((X - rows) ** 2) for rows in (pca.reconstruct(X), mixed))
    return {"relative change": abs(other - plain) / plain}


def copying() -> dict[str, float]:
    """Train a linear 64-64-64 network on digits: it copies them, and noise too."""
    d = digits()
    model = Autoencoder(
        code_size=64, linear=True, scaling="none", epochs=400, learning_rate=3e-3,
        schedule="cosine", validation_fraction=0.0,
    ).fit(d.X_train)  # fmt: skip
    # Noise only where digits have ink at all: the border pixels are constant in training.
    noise = np.random.default_rng(0).uniform(size=d.X_test.shape)
    noise = np.where(d.X_train.std(axis=0) > 0.05, noise, d.X_train.mean(axis=0))
    floor = float(np.mean((noise - noise.mean(axis=0)) ** 2))
    return {
        "mse on digits": -model.score(d.X_test),
        "share of noise lost": -model.score(noise) / floor,
    }


def denoiser() -> dict[str, float]:
    """Compare the best denoiser's correction, and a trained one's, with the score field."""
    rng = np.random.default_rng(0)
    centres, sigma, own = np.array([[-1.5, 0.0], [1.5, 0.5]]), 0.5, 0.4
    total = own**2 + sigma**2
    rows = centres[rng.integers(2, size=6000)] + own * rng.normal(size=(6000, 2))
    noisy = rows[:1500] + sigma * rng.normal(size=(1500, 2))
    offset = noisy[:, None, :] - centres
    weight = np.exp(-0.5 * np.sum(offset**2, axis=2) / total)
    weight /= weight.sum(axis=1, keepdims=True)
    score = -np.einsum("nk,nkd->nd", weight, offset) / total
    posterior = centres + offset * own**2 / total
    best = np.einsum("nk,nkd->nd", weight, posterior) - noisy
    model = Autoencoder(
        code_size=2, hidden=(64, 64), noise=sigma, scaling="none", epochs=60, batch=128,
        learning_rate=2e-3, validation_fraction=0.0,
    ).fit(rows)  # fmt: skip
    learnt = model.reconstruct(noisy) - noisy
    return {
        "identity": float(np.abs(best - sigma**2 * score).max()),
        "correlation": float(np.corrcoef(learnt.ravel(), score.ravel())[0, 1]),
    }


def thresholds() -> dict[str, dict[str, float]]:
    """Set a threshold on held-out rows of one law; look at fresh rows, then at shifted ones."""
    rng = np.random.default_rng(2)
    mix = rng.normal(size=(3, 10))

    def rows(n, gain=1.0):
        return gain * np.tanh(rng.normal(size=(n, 3)) @ mix) + 0.1 * rng.normal(size=(n, 10))

    model = Autoencoder(code_size=3, epochs=60).fit(rows(3000))
    threshold = percentile_threshold(model.errors(rows(6000)), 95)
    fresh = float(np.mean(model.errors(rows(6000)) > threshold))
    shifted = float(np.mean(model.errors(rows(6000, gain=1.3)) > threshold))
    return {
        "004-s2-threshold-fa": {"rate": fresh},
        "004-s2-drift-fa": {"ratio": shifted / fresh},
    }


def contaminated() -> dict[str, float]:
    """Hide a tenth of nines among the normal digits: fewer nines are found."""
    d = digits()
    fit, held, test, nines = parts(d, 9)
    hidden = d.X_train[d.y_train == 9]
    rng = np.random.default_rng(0)

    def with_nines(rows):
        return np.concatenate([rows, hidden[rng.integers(len(hidden), size=len(rows) // 10)]])

    clean, dirty = [], []
    for seed in range(2):
        model = autoencoder(8, seed=seed).fit(fit)
        clean.append(figures(model, held, test, nines)["detected"])
        model = autoencoder(8, seed=seed).fit(with_nines(fit))
        dirty.append(figures(model, with_nines(held), test, nines)["detected"])
    return {"loss of detection": float(np.mean(clean) - np.mean(dirty))}
