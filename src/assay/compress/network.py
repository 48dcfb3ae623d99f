"""The network of an autoencoder, and its losses on one row."""

import equinox as eqx
import jax
import jax.numpy as jnp

from assay.nn import MLP


class Codec(eqx.Module):
    """An encoder and its mirror image, on one row.

    Parameters
    ----------
    in_size : int
        Columns of a row.
    code_size : int
        Numbers in a code.
    hidden : tuple of int
        Widths of the hidden layers of the encoder; the decoder has them in reverse order.
    activation, output : str
        Names of the activation of the hidden layers and of the decoder's last layer.

    Examples
    --------
    >>> import numpy as np
    >>> Codec(4, 2, (8,), "gelu", "identity")(np.ones(4, "f4")).shape
    (4,)
    """

    encoder: MLP
    decoder: MLP

    def __init__(
        self, in_size: int, code_size: int, hidden: tuple[int, ...], activation: str, output: str
    ):
        self.encoder = MLP(in_size, code_size, hidden, activation)
        self.decoder = MLP(code_size, in_size, hidden[::-1], activation, output)

    def __call__(self, x):
        """Return one row (in_size,), coded and decoded."""
        return self.decoder(self.encoder(x))


def encode(model: Codec, row):
    """Return the code of one row."""
    return model.encoder(row)


def decode(model: Codec, code):
    """Return the row of one code."""
    return model.decoder(code)


def gaussian_denoising(model, x, y, key, extra):
    """Squared error of a row that is restored from itself plus normal noise.

    `extra` is the standard deviation of the noise [scaled units]. See Vincent et al., JMLR 11
    (2010), section 3.3.
    """
    noisy = x + extra.astype(x.dtype) * jax.random.normal(key, x.shape, x.dtype)
    return jnp.mean((model(noisy) - y) ** 2)


def masked_denoising(model, x, y, key, extra):
    """Squared error of a row that is restored after some of its values were set to 0.

    `extra` is the share of values set to 0: the mean of a standardised column.
    """
    kept = jax.random.uniform(key, x.shape, x.dtype) >= extra.astype(x.dtype)
    return jnp.mean((model(jnp.where(kept, x, 0)) - y) ** 2)
