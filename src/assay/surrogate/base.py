"""What all surrogates are to scikit-learn: regressors of one or of many outputs."""

from sklearn.base import BaseEstimator, RegressorMixin


class Surrogate(RegressorMixin, BaseEstimator):
    """A regressor of many outputs, which knows whether it was fitted."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def _require_fit(self):
        """Raise if there is no fit yet."""
        from sklearn.utils.validation import check_is_fitted

        check_is_fitted(self)
