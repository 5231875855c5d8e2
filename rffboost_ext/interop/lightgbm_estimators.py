"""LightGBM's scikit-learn estimators with our losses."""

from __future__ import annotations

from typing import Any

import lightgbm

from ..core import Loss
from ..preprocessing.targets import decision_values, decode_labels, squeeze
from ..utils.typing import Array
from .estimator_mixin import PARAMETERS
from .lightgbm_estimator_base import LGBMEstimator, is_explanation

WITHOUT = "objective and those of its own objectives, such as alpha"


class LGBMClassifier(LGBMEstimator, lightgbm.LGBMClassifier):
    __doc__ = f"""``lightgbm.LGBMClassifier`` with one of our losses, or one of the user's.

    The intercept is the loss's baseline, probabilities use its own link, and sample weights apply. Pickle stores
    the whole estimator; a file of ``booster_.save_model`` holds only the trees.

    Parameters
    ----------
    {PARAMETERS.format(loss="log_loss", task="classification", host="lightgbm.LGBMClassifier", without=WITHOUT)}

    Notes
    -----
    If the loss's link is ``sigmoid(k raw)``, the booster grows on the log-odds ``k raw``, as for LightGBM's own
    logistic loss; ``raw_score=True`` returns ``raw``. Of LightGBM's own metrics, auc and average_precision are
    allowed for two classes; others would ignore the baseline. A callable eval_metric receives probabilities as
    from LightGBM's own objectives: (n,) of the second of two classes, else (n, K).
    """

    task = "classification"

    def __init__(self, *, loss: str | Loss = "log_loss", **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)

    def predict_proba(self, X: Any, raw_score: bool = False, **kwargs: Any) -> Array:
        """Class probabilities, (n, K), by the loss's own link; raw scores if `raw_score`."""
        if is_explanation(kwargs):
            return self._explain(X, kwargs)
        raw = self._raw(X, **kwargs)
        return squeeze(raw) if raw_score else self.loss_.link.inverse(raw)

    def decision_function(self, X: Any, **kwargs: Any) -> Array:
        """Raw scores: (n,) for two classes, else (n, K); logs of probabilities if the loss has other scores."""
        return decision_values(self._raw(X, **kwargs), len(self.classes_), self.loss_)

    def _response(self, raw: Array) -> Array:
        return decode_labels(self.loss_.link.inverse(raw), self.classes_, self.loss_.multilabel)


class LGBMRegressor(LGBMEstimator, lightgbm.LGBMRegressor):
    __doc__ = f"""``lightgbm.LGBMRegressor`` with one of our losses, or one of the user's.

    The intercept is the loss's baseline, predictions use its own link, and sample weights apply. Pickle stores the
    whole estimator; a file of ``booster_.save_model`` holds only the trees.

    Parameters
    ----------
    {PARAMETERS.format(loss="squared_error", task="regression", host="lightgbm.LGBMRegressor", without=WITHOUT)}

    Notes
    -----
    A callable eval_metric receives what ``predict`` returns.
    """

    task = "regression"

    def __init__(self, *, loss: str | Loss = "squared_error", **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)
