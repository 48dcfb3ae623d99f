"""What a number of principal components of outputs leaves over, by cross-validation."""

import numpy as np

FOLDS = 5


def folds_of(Y):
    """Return, for each fold, the held-out outputs about the others' mean, and the others' modes."""
    order = np.random.default_rng(0).permutation(len(Y))
    folds = []
    for held in np.array_split(order, min(FOLDS, len(Y))):
        kept = np.delete(Y, held, axis=0)
        mean = kept.mean(axis=0)
        axes = np.linalg.svd(kept - mean, full_matrices=False)[2]
        folds.append((Y[held] - mean, axes))
    return folds


def truncation(folds, n_modes):
    """Return the mean square of what `n_modes` modes leave over of held-out outputs: (m,)."""
    left = [rows - rows @ axes[:n_modes].T @ axes[:n_modes] for rows, axes in folds]
    return np.mean(np.concatenate(left) ** 2, axis=0)


def truncation_rms(folds):
    """Return the root mean square of what 1, 2, ... modes leave over of held-out outputs."""
    fewest = min(len(axes) for _, axes in folds)
    left, count = np.zeros(fewest), 0
    for rows, axes in folds:
        caught = np.cumsum(((rows @ axes[:fewest].T) ** 2).sum(axis=0))
        left += np.maximum((rows**2).sum() - caught, 0.0)
        count += rows.size
    return np.sqrt(left / count)
