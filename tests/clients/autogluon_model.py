"""A model of AutoGluon whose estimator is the hyperparameter `kind`; in a module, to be pickled."""

from autogluon.core.models import AbstractModel

__all__ = ["Wrapped"]


class Wrapped(AbstractModel):
    """Fits an estimator with the other hyperparameters."""

    def _fit(self, X, y, **_):
        given = self._get_model_params()
        kind = given.pop("kind")
        self.model = kind(**given).fit(self.preprocess(X), y)
