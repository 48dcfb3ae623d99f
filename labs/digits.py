"""The digits of scikit-learn, split as in the chapter's lab 1."""

import dataclasses

import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from assay.compress import Autoencoder


@dataclasses.dataclass(frozen=True)
class Digits:
    """Pixels in [0, 1], float32, and digits; four fifths to train."""

    X_train: np.ndarray
    X_test: np.ndarray
    y_train: np.ndarray
    y_test: np.ndarray


def digits() -> Digits:
    """Return the lab's split: stratified, a fifth to test, random state 0."""
    pixels, digit = load_digits(return_X_y=True)
    pixels = (pixels / 16.0).astype(np.float32)
    return Digits(*train_test_split(pixels, digit, test_size=0.2, stratify=digit, random_state=0))


def autoencoder(code_size: int, *, seed: int = 0) -> Autoencoder:
    """Return the lab's autoencoder: 64-128-code-128-64, 200 epochs of Adam at 1e-3."""
    return Autoencoder(
        code_size=code_size,
        hidden=(128,),
        output="sigmoid",
        scaling="none",
        epochs=200,
        batch=64,
        learning_rate=1e-3,
        schedule="constant",
        validation_fraction=0.0,
        random_state=seed,
    )
