"""Lab 1, steps 1 to 3 and 5: PCA and autoencoders on 8 x 8 digits."""

import numpy as np
from digits import autoencoder, digits
from sklearn.neighbors import KNeighborsClassifier

from assay.compress.baselines import PCA


def measure() -> dict[str, dict[str, float]]:
    """Return what is measured for each fact of this lab."""
    d = digits()
    floor = float(np.mean((d.X_test - d.X_train.mean(axis=0)) ** 2))
    pca = {k: PCA(code_size=k, scaling="none").fit(d.X_train) for k in (2, 8)}
    ae = {k: autoencoder(k).fit(d.X_train) for k in (2, 8)}
    error = {name: {k: -m.score(d.X_test) for k, m in made.items()} for name, made in
             (("pca", pca), ("ae", ae))}  # fmt: skip

    def neighbours(train, test):
        return KNeighborsClassifier(5).fit(train, d.y_train).score(test, d.y_test)

    raw = neighbours(d.X_train, d.X_test)
    on_pca, on_ae = (
        neighbours(m.transform(d.X_train), m.transform(d.X_test)) for m in (pca[2], ae[2])
    )
    both = np.concatenate([d.X_train, d.X_test])
    return {
        "004-lab1-shapes": {
            "train rows": len(d.X_train), "test rows": len(d.X_test), "pixels": d.X_test.shape[1],
        },
        "004-lab1-pixels": {"min": both.min(), "max": both.max(), "mean": d.X_train.mean()},
        "004-lab1-mean-image": {"mse": floor},
        "004-lab1-pca2": {"mse": error["pca"][2]},
        "004-lab1-pca8": {"mse": error["pca"][8]},
        "004-lab1-pca-share2": {"share": 1.0 - error["pca"][2] / floor},
        "004-lab1-pca-share8": {"share": 1.0 - error["pca"][8] / floor},
        "004-lab1-ae2-mse": {"mse": error["ae"][2]},
        "004-lab1-ae8-mse": {"mse": error["ae"][8]},
        "004-lab1-ae-beats-pca": {
            "ratio at 2": error["ae"][2] / error["pca"][2],
            "ratio at 8": error["ae"][8] / error["pca"][8],
        },
        "004-lab1-knn-pca2": {"accuracy": on_pca},
        "004-lab1-knn-ae2": {"accuracy": on_ae},
        "004-lab1-knn-raw": {"accuracy": raw},
        "004-s2-ae-vs-pca-2": {
            "ae": error["ae"][2], "pca": error["pca"][2], "ratio": error["ae"][2] / error["pca"][2],
        },
        "004-s2-ae-vs-pca-8": {
            "ae": error["ae"][8], "pca": error["pca"][8], "ratio": error["ae"][8] / error["pca"][8],
        },
    }  # fmt: skip
