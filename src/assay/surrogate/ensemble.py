"""Several networks that differ in their seed: their mean predicts, their spread warns."""

import time
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone

from assay.data import map_rows
from assay.errors import ModelError, StudyError
from assay.models import rebuild, save_model
from assay.surrogate.base import Surrogate
from assay.surrogate.mlp import MLPSurrogate
from assay.surrogate.network import NetworkSurrogate
from assay.train import fit_many
from assay.train.many import cores

MOST_MEMBERS = 1000


class DeepEnsemble(MetaEstimatorMixin, Surrogate):
    r"""Networks of one kind, trained on the same runs from different initial weights [1]_.

    The prediction is the mean of the members. Their standard deviation is a spread, not an error
    bar: members that learned from the same runs can be wrong together, and away from the runs
    they are.

    Parameters
    ----------
    member : MLPSurrogate or ResNetSurrogate, optional
        What each member is like; its `random_state` is not used. By default `MLPSurrogate()`.
    size : int >= 2, default 5
        Number of members.
    random_state : int in [0, 2**32), default 0
        Of the members' seeds, and of the runs that all of them hold out.

    Attributes
    ----------
    members_ : list
        The fitted members.
    domain_ : Domain
        With a limit on the disagreement: twice what 99 % of points between runs stay below.
    n_features_in_, n_outputs_, n_parameters_ : int
        The parameters of all members together.
    status_ : str
        How the training of the members ended.
    history_ : dict of arrays
        ``step``, ``train`` and ``validation``: means over the members, as far as all of them went.
    fit_seconds_, compile_seconds_ : float [s]
        Of all members, on the wall clock.

    References
    ----------
    .. [1] B. Lakshminarayanan et al., Simple and scalable predictive uncertainty estimation using
       deep ensembles, NeurIPS 2017, sec. 2.4; without its adversarial training and variance head.

    Examples
    --------
    >>> X = np.linspace(-1.0, 1.0, 100)[:, None]
    >>> model = DeepEnsemble(MLPSurrogate(steps=500), size=3).fit(X, np.sin(3.0 * X[:, 0]))
    >>> mean, std = model.predict([[0.0], [3.0]], return_std=True)
    >>> bool(std[0] < std[1])
    True
    """

    name: ClassVar[str] = "Deep ensemble"
    about: ClassVar[str] = "Networks that differ in their seed; their mean predicts."
    family: ClassVar[str] = "surrogate.ensemble"

    def __init__(self, member=None, size=5, *, random_state=0):
        self.member = member
        self.size = size
        self.random_state = random_state

    def fit(self, X, Y, *, validation=None, checkpoint=None):
        """Train all members, with one compilation; see `MLPSurrogate.fit`.

        Parameters
        ----------
        X, Y, validation
            See `MLPSurrogate.fit`.
        checkpoint : path, optional
            Folder that an interrupted fit goes on from: a file for each member.
        """
        first = MLPSurrogate() if self.member is None else clone(self.member)
        if not isinstance(first, NetworkSurrogate):
            raise StudyError(
                f"A deep ensemble has networks as members, got a {type(first).__name__}.",
                hint="Use MLPSurrogate(...) or ResNetSurrogate(...).",
            )
        whole = isinstance(self.size, int | np.integer) and not isinstance(self.size, bool)
        if not whole or not 2 <= self.size <= MOST_MEMBERS:
            raise StudyError(
                f"`size` of a DeepEnsemble must be a whole number from 2 to {MOST_MEMBERS}, got "
                f"{self.size!r}.",
                hint="5 members are usual.",
            )
        first.set_params(random_state=self.random_state)
        clock = time.perf_counter()
        ready = first.prepare(X, Y, validation, checkpoint=checkpoint)
        seeds = member_seeds(self.random_state, self.size)
        with first.precise():
            fits = fit_many(
                ready.spec, ready.hyper, ready.x, ready.y, seeds=seeds,
                validation=ready.validation, patience=ready.patience, checkpoint=checkpoint,
            )  # fmt: skip
        self.members_ = [_member(first, seed, done) for seed, done in zip(seeds, fits, strict=True)]
        # The clock does not know of earlier runs of a fit that was gone on with; the members do.
        shared = sum(done.seconds for done in fits) / min(cores(), len(fits))
        self.fit_seconds_ = max(time.perf_counter() - clock, shared)
        self.compile_seconds_ = sum(done.compile_seconds for done in fits)
        self._take_over()
        between = first.domain_.between()
        self.domain_ = first.domain_.with_spread(self._spread(self._deviation(between)))
        return self

    def predict(self, X, *, return_std=False, return_valid=False):
        """Return the mean of the members: (n, m), or (n,) if `Y` was (n,) [units of the outputs].

        Parameters
        ----------
        X : array of shape (n, d) [units of the inputs]
        return_std : bool, default False
            Also return the members' standard deviation (over size - 1), of the same shape.
        return_valid : bool, default False
            Also return which rows are inside the validity domain: (n,) bool, see `Domain`.

        Returns
        -------
        array, or tuple of mean, std (if asked for) and valid (if asked for)
        """
        each = self.predict_members(X)
        mean = each.mean(axis=0)
        if not (return_std or return_valid):
            return mean
        std = each.std(axis=0, ddof=1)
        valid = ()
        if return_valid:
            valid = (self.domain_.inside(X, self._spread(std.reshape(len(mean), -1))),)
        return (mean, std, *valid) if return_std else (mean, *valid)

    def predict_members(self, X):
        """Return what each member predicts: (size, n, m), or (size, n) if `Y` was (n,)."""
        self._require_fit()
        X = self.members_[0].checked(X)
        return np.stack([member.predict(X) for member in self.members_])

    def settings(self) -> dict[str, Any]:
        """Return what was used, as plain values."""
        self._require_fit()
        used = self.members_[0].settings()
        used.pop("random_state")
        return {"size": len(self.members_), "random_state": self.random_state, "member": used}

    @property
    def untrained_(self):
        """The same ensemble with the weights before training, or None for a loaded one."""
        members = [member.untrained_ for member in self.members_]
        if None in members:
            return None
        twin = clone(self)
        twin.members_, twin.domain_ = members, self.domain_
        twin._take_over()
        return twin

    def save(self, folder) -> Path:
        """Write ``model.json`` and ``weights.safetensors`` into `folder`."""
        config, arrays = self.to_saved()
        return save_model(folder, family=self.family, config=config, arrays=arrays)

    def to_saved(self):
        """Return (config, arrays) for `assay.models.save_model`."""
        self._require_fit()
        domain, arrays = self.domain_.to_saved()
        shared = set(arrays)  # the members' domain is the same: kept once
        configs = []
        for i, member in enumerate(self.members_):
            config, own = member.to_saved()
            configs.append(config)
            arrays |= {f"{i}.{name}": own[name] for name in own if name not in shared}
        config = {
            "family": self.members_[0].family,
            "size": len(self.members_),
            "random_state": self.random_state,
            "domain": domain,
            "members": configs,
        }
        return config, arrays

    @classmethod
    def from_saved(cls, config, arrays):
        """Return the fitted estimator from what `to_saved` returned."""
        shared = {name: arrays[name] for name in arrays if name.startswith("domain.")}
        members = []
        for i, own in enumerate(config["members"]):
            mine = {
                name.removeprefix(f"{i}."): arrays[name]
                for name in arrays
                if name.startswith(f"{i}.")
            }
            members.append(rebuild(config["family"], own, mine | shared))
        sizes = {(member.n_features_in_, member.n_outputs_) for member in members}
        networks = all(isinstance(member, NetworkSurrogate) for member in members)
        if not networks or len(sizes) != 1 or len(members) < 2:
            raise ModelError(
                "The saved members do not make an ensemble: they must be two or more networks "
                f"with the same inputs and outputs, got {len(members)}.",
                hint="The folder is damaged or was edited; save the model again.",
            )
        like = clone(members[0]).set_params(random_state=0)
        model = cls(like, len(members), random_state=config["random_state"])
        model.members_ = members
        model.domain_ = type(members[0].domain_).from_saved(config["domain"], arrays)
        model._take_over()
        return model

    def __sklearn_is_fitted__(self):
        return hasattr(self, "members_")

    # --- what the public methods are made of -------------------------------------------------

    def _take_over(self):
        """Set the attributes that follow from the members."""
        first = self.members_[0]
        self.n_features_in_, self.n_outputs_ = first.n_features_in_, first.n_outputs_
        self.n_parameters_ = sum(member.n_parameters_ for member in self.members_)
        sentences = [member.status_ for member in self.members_]
        counts = {one: sentences.count(one) for one in sentences}
        self.status_ = " ".join(
            one if n == len(sentences) else f"{n} of {len(sentences)} members: {one}"
            for one, n in counts.items()
        )
        curves = [member.history_ for member in self.members_]
        length = min(len(curve["step"]) for curve in curves)
        self.history_ = {
            key: np.mean([curve[key][:length] for curve in curves], axis=0) for key in curves[0]
        }

    def _deviation(self, X):
        each = [map_rows(member._outputs, X) for member in self.members_]
        return np.std(each, axis=0, ddof=1)

    def _spread(self, std):
        """Return one number a row: root mean square over the outputs, in scaled units."""
        return np.sqrt(np.mean((std / self.members_[0].output_scaler_.scale) ** 2, axis=1))


def member_seeds(random_state: int, size: int) -> list[int]:
    """Return the seeds of the members; those of a larger ensemble begin with the same."""
    children = np.random.SeedSequence(random_state).spawn(size)
    return [int(child.generate_state(1)[0]) for child in children]


def _member(first, seed, done):
    """Return a fitted member that shares scaling and domain with the first."""
    member = clone(first).set_params(random_state=seed)
    for name, value in vars(first).items():
        if name.endswith("_") and not name.startswith("_"):
            setattr(member, name, value)
    member.take(done.unless_interrupted())
    return member
