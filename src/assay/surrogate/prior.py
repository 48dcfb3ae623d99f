"""Weight decay as a Gaussian prior on the weights."""

from assay.errors import StudyError


def weight_decay_of(prior_sd: float, *, noise_sd: float, n_rows: int, n_outputs: int = 1) -> float:
    r"""Return the weight decay whose minimum is the maximum a posteriori (MAP) estimate.

    With independent normal noise of standard deviation :math:`\sigma` on the outputs and a normal
    prior of standard deviation :math:`s_w` on every weight [1]_, the negative log posterior is

    .. math:: \frac{1}{2\sigma^2} \sum_{i=1}^{n} \lVert y_i - f(x_i; w) \rVert^2
              + \frac{1}{2 s_w^2} \lVert w \rVert^2 + \mathrm{const}.

    Training minimises the mean squared error over the n rows and m outputs plus
    :math:`\tfrac12 \lambda \lVert w \rVert^2`: the same function times
    :math:`2\sigma^2 / (n m)`, so

    .. math:: \lambda = \frac{2 \sigma^2}{n\, m\, s_w^2}.

    Parameters
    ----------
    prior_sd : float > 0 [-]
        :math:`s_w`; about 95 % of the prior lies within two of them from 0.
    noise_sd : float > 0 [scaled units of the outputs]
        :math:`\sigma`.
    n_rows, n_outputs : int
        n and m.

    Raises
    ------
    StudyError
        If a standard deviation is not positive.

    References
    ----------
    .. [1] C. M. Bishop, Pattern recognition and machine learning, 2006, sec. 1.2.5 and 5.5.

    Examples
    --------
    >>> weight_decay_of(1.0, noise_sd=0.5, n_rows=100)
    0.005
    """
    for name, value in (("prior_sd", prior_sd), ("noise_sd", noise_sd)):
        if not 0.0 < value < float("inf"):
            raise StudyError(
                f"`{name}` must be positive and finite, got {value!r}.",
                hint="1 is a usual standard deviation of weights; the noise is that of the data.",
            )
    return 2.0 * (noise_sd / prior_sd) ** 2 / (n_rows * n_outputs)
