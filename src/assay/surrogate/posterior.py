"""What an inversion found: draws, a summary, and everything that speaks against believing it."""

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from assay.data import as_matrix
from assay.errors import DataError, ModelError, StudyError
from assay.surrogate.convergence import bulk_ess, split_rhat

MOST_RHAT = 1.01  # as Vehtari et al. (2021) recommend
FEWEST_ESS = 400.0
_FEWEST_CHECKS = 2
_TOLERATED = 1.5  # standard deviations, typically; 1 is the most that they should be


@dataclasses.dataclass(frozen=True, eq=False)
class Summary:
    """One row per input, in its unit where it has one.

    Attributes
    ----------
    names : tuple of str
    mean, sd, low, median, high : (d,) float64 [units of the inputs]
        `low` and `high` are the 2.5 % and 97.5 % points.
    rhat, ess : (d,) float64 [-]
        Rank-normalised split R-hat, bulk effective sample size.
    """

    names: tuple[str, ...]
    mean: np.ndarray
    sd: np.ndarray
    low: np.ndarray
    median: np.ndarray
    high: np.ndarray
    rhat: np.ndarray
    ess: np.ndarray

    def __str__(self):
        width = max(len("input"), *map(len, self.names))
        head = f"{'input':<{width}}  {'mean':>11} {'sd':>10} {'2.5 %':>11} {'97.5 %':>11}"
        lines = [f"{head} {'R-hat':>6} {'ESS':>6}"]
        for j, name in enumerate(self.names):
            values = f"{self.mean[j]:11.5g} {self.sd[j]:10.3g} {self.low[j]:11.5g}"
            lines.append(
                f"{name:<{width}}  {values} {self.high[j]:11.5g} {self.rhat[j]:6.3f} "
                f"{self.ess[j]:6.0f}"
            )
        return "\n".join(lines)


@dataclasses.dataclass(frozen=True, eq=False)
class Comparison:
    """The true model beside the surrogate at draws of the posterior.

    Attributes
    ----------
    errors : (n, k) float64 [units of the outputs]
        True output minus what was assumed: prediction plus bias.
    scaled_rms : (n,) float64 [-]
        Root mean square of the errors over the standard deviations of data and surrogate together.
    log_likelihood : (n,) float64 [nats]
        That of the true model minus that of the surrogate.
    sentence : str
    """

    errors: np.ndarray
    scaled_rms: np.ndarray
    log_likelihood: np.ndarray
    sentence: str

    def __str__(self):
        return self.sentence


@dataclasses.dataclass(frozen=True, eq=False)
class Posterior:
    """Draws of the inputs given the data, and how far to trust them.

    Attributes
    ----------
    samples : (chains, draws, d) float64 [units of the inputs]
    names : tuple of str
    box : (d, 2) float64 [units of the inputs]
        The prior's support inside the training box.
    prior : (101, d) float64 [units of the inputs]
        The values that 0, 1, ..., 100 % of the prior lie below.
    data : (k,) float64 [units of the outputs]
    observed : (k,) int
        Outputs that the data belong to.
    bias : (k,) float64 [units of the outputs]
        What was added to the surrogate's predictions.
    covariance : (k, k) float64 [units of the outputs squared]
        Of the data and of the surrogate, averaged over draws where `LocalErrors` vary; without
        the surrogate's own spread (`SpreadCovariance`).
    chi_square : (chains, draws) float64 [-]
        Misfit of each draw, to be compared with `k`.
    divergences : int
        Draws after which a trajectory went astray: the sampler may have missed a narrow place.
    depth_hits : int
        Draws whose trajectory was as long as allowed.
    acceptance : float [-]
        Mean acceptance of trajectories; near 0.98 if the step size was found.
    predictive : float [-]
        Posterior predictive p-value: the probability that replicated data are further from the
        surrogate than the data are. Near 0: neither noise nor the surrogate's error explain the
        misfit. Near 1: the noise is overstated.
    inside : float [-]
        Share of the draws in the surrogate's validity domain; NaN where it has none.
    findings : tuple of str
        What speaks against the result, empty if nothing.
    surrogate : estimator or None
        None for a posterior that was read from a file.
    """

    samples: np.ndarray
    names: tuple[str, ...]
    box: np.ndarray
    prior: np.ndarray
    data: np.ndarray
    observed: np.ndarray
    bias: np.ndarray
    covariance: np.ndarray
    chi_square: np.ndarray
    divergences: int
    depth_hits: int
    acceptance: float
    predictive: float
    inside: float
    findings: tuple[str, ...]
    surrogate: Any = dataclasses.field(default=None, repr=False)

    @property
    def flat(self) -> np.ndarray:
        """Return all draws of all chains, (chains * draws, d) [units of the inputs]."""
        return self.samples.reshape(-1, self.samples.shape[2])

    @property
    def summary(self) -> Summary:
        """Return the table of the inputs."""
        flat = self.flat
        low, median, high = np.quantile(flat, [0.025, 0.5, 0.975], axis=0)
        return Summary(
            self.names, flat.mean(axis=0), flat.std(axis=0, ddof=1), low, median, high,
            split_rhat(self.samples), bulk_ess(self.samples),
        )  # fmt: skip

    @property
    def correlation(self) -> np.ndarray:
        """Return the correlation of the inputs over the draws (d, d) [-]."""
        return np.atleast_2d(np.corrcoef(self.flat.T))

    def __str__(self):
        chains, draws, _ = self.samples.shape
        lines = [
            f"Posterior of {chains} chains of {draws} draws",
            str(self.summary),
            f"chi-square {np.median(self.chi_square):.4g} for {len(self.data)} data, predictive "
            f"p {self.predictive:.2g}; divergences {self.divergences}, trajectories at their "
            f"longest {self.depth_hits}, acceptance {self.acceptance:.2f}",
        ]
        if np.isfinite(self.inside):
            lines.append(f"{100.0 * self.inside:.1f} % of the draws are in the validity domain")
        return "\n".join(lines + [f"! {finding}" for finding in self.findings])

    def figure(self, *, truth=None, units=None) -> Any:
        """Return a figure of all pairs of inputs: draws, prior, ends of the box.

        Parameters
        ----------
        truth : array of shape (d,), optional [units of the inputs]
            Marked, where it is known.
        units : sequence of str, optional
            Of the inputs, for the axes.

        Returns
        -------
        matplotlib.figure.Figure
            ``found.figure().savefig("posterior.svg")`` writes it.

        Raises
        ------
        StudyError
            If `truth` or `units` do not have one entry per input.
        """
        from assay.surrogate.corner import corner

        return corner(self, truth=truth, units=units)

    def check_runs(self, n: int = 8, *, seed: int = 0) -> np.ndarray:
        """Return draws (n, d) [units of the inputs] at which to run the true model.

        They are spread over the posterior: each is the draw nearest to the centre of one of `n`
        clusters. Give the true outputs to `compare`.

        Parameters
        ----------
        n : int >= 2
        seed : int
            Of the clusters.
        """
        from sklearn.cluster import KMeans

        flat = self.flat
        distinct = np.unique(flat, axis=0)
        if not _FEWEST_CHECKS <= n <= len(distinct):
            raise StudyError(
                f"`n` must be a whole number from 2 to the {len(distinct)} distinct draws, got "
                f"{n!r}.",
                hint="8 runs are enough to see whether the surrogate holds there.",
            )
        sd = distinct.std(axis=0)
        scaled = (distinct - distinct.mean(axis=0)) / np.where(sd > 0.0, sd, 1.0)
        centres = KMeans(n, n_init=1, random_state=seed).fit(scaled).cluster_centers_
        taken = []
        for centre in centres:
            order = ((scaled - centre) ** 2).sum(axis=1).argsort()
            taken.append(next(int(i) for i in order if int(i) not in taken))
        return distinct[taken]

    def compare(self, inputs, true_outputs, *, surrogate=None) -> Comparison:
        """Compare runs of the true model with what the inversion assumed.

        Parameters
        ----------
        inputs : array of shape (n, d) [units of the inputs]
            As from `check_runs`.
        true_outputs : array of shape (n, m) or (n,) [units of the outputs]
            All outputs of the true model there.
        surrogate : estimator, optional
            Needed for a posterior that was read from a file.
        """
        from assay.surrogate.error_covariance import held_out_errors

        surrogate = self.surrogate if surrogate is None else surrogate
        if surrogate is None:
            raise StudyError(
                "The surrogate is not known to a posterior that was read from a file.",
                hint="Give `surrogate`, e.g. assay.load(folder).",
            )
        inputs = as_matrix(inputs, name="inputs", n_columns=len(self.names))
        errors = held_out_errors(surrogate, inputs, true_outputs)[:, self.observed] - self.bias
        sd = np.sqrt(self.covariance.diagonal())
        predicted = np.asarray(surrogate.predict(inputs)).reshape(len(inputs), -1)
        apart = self.data - predicted[:, self.observed] - self.bias
        inverse = np.linalg.inv(np.linalg.cholesky(self.covariance))
        chi = [((inverse @ part.T) ** 2).sum(axis=0) for part in (apart, apart - errors)]
        scaled = np.sqrt(np.mean((errors / sd) ** 2, axis=1))
        change = 0.5 * (chi[0] - chi[1])
        return Comparison(errors, scaled, change, _sentence(scaled, change))

    def save(self, path) -> Path:
        """Write all arrays into one ``.npz`` file; the surrogate is saved on its own."""
        path = Path(path).with_suffix(".npz")
        kept = {f.name: getattr(self, f.name) for f in dataclasses.fields(self)}
        del kept["surrogate"]
        np.savez_compressed(path, **{k: np.asarray(v) for k, v in kept.items()})
        return path

    @classmethod
    def load(cls, path) -> "Posterior":
        """Return the posterior that `save` wrote, without the surrogate."""
        try:
            with np.load(path, allow_pickle=False) as held:
                kept = {name: held[name] for name in held.files}
            for name in ("names", "findings"):
                kept[name] = tuple(str(one) for one in kept[name])
            for name, kind in (("divergences", int), ("depth_hits", int), ("acceptance", float),
                               ("predictive", float), ("inside", float)):  # fmt: skip
                kept[name] = kind(kept[name])
            return cls(**kept)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ModelError(
                f"{path} does not hold a posterior: {error}.",
                hint="Give the file that Posterior.save wrote.",
            ) from None


def chain_findings(samples, names, divergences: int, depth_hits: int) -> list[str]:
    """Return sentences about chains that did not converge.

    Parameters
    ----------
    samples : (chains, draws, d) array
    names : tuple of str
    divergences, depth_hits : int
    """
    if samples.shape[1] < 4:
        raise DataError("Convergence needs 4 draws a chain.", hint="Ask for 1,000 draws.")
    rhat, ess = split_rhat(samples), bulk_ess(samples)
    said = []
    if rhat.max() > MOST_RHAT:
        said.append(
            f"The chains do not agree: R-hat of {names[int(rhat.argmax())]} is {rhat.max():.3f}, "
            f"above {MOST_RHAT}. Draw more; if that does not help, the posterior has several peaks."
        )
    if ess.min() < FEWEST_ESS:
        said.append(
            f"The draws of {names[int(ess.argmin())]} are worth {ess.min():.0f} independent ones, "
            f"below {FEWEST_ESS:.0f}: ends of intervals are rough. Draw more."
        )
    if divergences:
        share = divergences / (samples.shape[0] * samples.shape[1])
        said.append(
            f"{divergences} trajectories ({100.0 * share:.2g} %) diverged: the posterior has "
            "places that the sampler cannot enter. Warm up for longer, or smooth the surrogate."
        )
    if depth_hits:
        said.append(
            f"{depth_hits} trajectories were as long as allowed: sampling is slow here, not wrong. "
            "Warm up for longer."
        )
    return said


def _sentence(scaled, change):
    spread = float(change.std(ddof=1))
    said = (
        f"At {len(scaled)} draws the true model is {np.median(scaled):.2g} standard deviations of "
        f"data and surrogate away (at most {scaled.max():.2g}); the log-likelihood changes by "
        f"{change.mean():.2g} with a spread of {spread:.2g}. "
    )
    again = "add these runs to the training runs, and invert again"
    if np.median(scaled) > _TOLERATED:
        return said + f"That is more than the inversion allows for: {again}."
    if spread > 1.0:
        return said + f"That is allowed for; but for a sharper posterior, {again}."
    return said + "The posterior would hardly change with the true model."
