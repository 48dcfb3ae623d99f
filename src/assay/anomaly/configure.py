"""Fresh estimators with the settings of a study."""

from typing import Any


def configured(estimator: Any, wanted: dict[str, Any], seed: int) -> Any:
    """Return a clone with those of the study's settings that it takes, and the seed.

    Parameters
    ----------
    estimator : estimator with ``get_params``
        Never fitted itself.
    wanted : dict
        Settings of the study; those that the estimator does not have are left out.
    seed : int
        Becomes its ``seed`` or ``random_state``, where it has one.
    """
    from sklearn.base import clone

    fresh = clone(estimator)
    takes = fresh.get_params(deep=False)
    chosen = {k: v for k, v in wanted.items() if k in takes}
    chosen |= {k: seed for k in ("seed", "random_state") if k in takes}
    return fresh.set_params(**chosen)
