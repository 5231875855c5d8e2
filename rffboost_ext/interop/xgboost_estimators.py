"""XGBoost's scikit-learn estimators with our losses."""

from __future__ import annotations

from typing import Any

import numpy as np
import xgboost

from ..core import Loss
from ..preprocessing.targets import decode_labels
from ..utils.typing import Array
from .estimator_mixin import PARAMETERS
from .xgboost_estimator_base import XGBEstimator

WITHOUT = "objective and those of its own objectives, such as quantile_alpha"


class XGBClassifier(XGBEstimator, xgboost.XGBClassifier):
    __doc__ = f"""``xgboost.XGBClassifier`` with one of our losses, or one of the user's.

    The intercept is the loss's baseline, probabilities use its own link, sample weights apply, and ``save_model``
    and ``load_model`` keep the loss.

    Parameters
    ----------
    {PARAMETERS.format(loss="log_loss", task="classification", host="xgboost.XGBClassifier", without=WITHOUT)}

    Notes
    -----
    If the loss's link is ``sigmoid(k raw)``, the booster grows on the log-odds ``k raw``: k is 1 for log_loss and
    2 for exponential. Learning rate, reg_lambda and min_child_weight then mean the same as for XGBoost's own
    logistic loss, its metrics apply, and programs that read the saved file as a logistic model return the right
    probabilities. ``predict(output_margin=True)`` returns ``raw``; a base_margin is in log-odds.

    The file names the objective ``binary:logitraw``, whose predictions are scores, if a loss of two classes has
    another link, or its intercept exceeds the log-odds of about 13 that ``binary:logistic`` can store. For several
    classes it names ``multi:softprob``, whose probabilities are those of log_loss.

    The exponential loss benefits more from early stopping than the logistic loss: the weight of a misclassified
    row grows without bound, and probabilities become overconfident.

    A callable eval_metric receives probabilities as from XGBoost's own objectives: (n,) of the second of two
    classes, else (n, K). XGBoost's own metrics apply its logistic link or softmax. They are rejected for a loss of
    another link or such an intercept, except auc and aucpr of one output.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.interop import xgboost as rxgb
    >>> X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    >>> model = rxgb.XGBClassifier(loss="exponential", n_estimators=10, max_depth=2).fit(X, y)
    >>> bool((model.predict(X) == y).all())
    True
    """

    task, predicted = "classification", "probabilities"
    natives, native_scores = ("binary:logistic",), "binary:logitraw"
    ranking_metrics = ("auc", "aucpr")
    default_objectives = (None, "binary:logistic", "multi:softprob")

    def __init__(self, *, loss: str | Loss = "log_loss", **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)

    def predict_proba(
        self,
        X: Any,
        validate_features: bool = True,
        base_margin: Any = None,
        iteration_range: tuple[int, int] | None = None,
    ) -> Array:
        """Class probabilities, (n, K), by the loss's own link."""
        shared = {"base_margin": base_margin, "iteration_range": iteration_range}
        raw = self._raw(X, validate_features=validate_features, **shared)
        return self.loss_.link.inverse(raw)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = False
        return tags

    def _response(self, raw: Array) -> Array:
        probability = self.loss_.link.inverse(raw)
        return decode_labels(probability, np.arange(probability.shape[1]), self.loss_.multilabel)


class XGBRegressor(XGBEstimator, xgboost.XGBRegressor):
    __doc__ = f"""``xgboost.XGBRegressor`` with one of our losses, or one of the user's.

    The intercept is the loss's baseline, predictions use its own link, sample weights apply, and ``save_model``
    and ``load_model`` keep the loss.

    Parameters
    ----------
    {PARAMETERS.format(loss="squared_error", task="regression", host="xgboost.XGBRegressor", without=WITHOUT)}

    Notes
    -----
    The file names an objective of XGBoost's with the loss's link, so that other programs predict the same:
    ``count:poisson``, ``reg:gamma`` and ``reg:tweedie`` for the losses of these names, ``reg:gamma`` for another
    log link, ``reg:logistic`` for a logit link, else ``reg:squarederror``. For a link that XGBoost lacks, or a log
    link with a baseline beyond the range of float32, other programs predict raw scores, and XGBoost's own metrics
    are rejected. A callable eval_metric receives what ``predict`` returns.
    """

    task, predicted = "regression", "means"
    natives, native_scores = ("reg:squarederror", "reg:gamma", "reg:logistic"), "reg:squarederror"
    default_objectives = (None, "reg:squarederror")

    def __init__(self, *, loss: str | Loss = "squared_error", **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)
