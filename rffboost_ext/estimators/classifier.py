"""The scikit-learn estimators: validation and encoding around :func:`~rffboost_ext.boost`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin

from ..boosting.loop import Parts
from ..core import Learner, Loss
from ..losses.target_statistics import has_own_columns, scores_for
from ..rows.dataset import Dataset
from ..rows.feature_encoder import FeatureEncoder
from ..rows.tables import label_array
from ..rows.targets import TargetEncoder, class_targets, decision_values, decode_labels, first_labels
from ..rows.weights import ClassWeightCheck
from ..terms.ensemble import Ensemble
from ..utils.typing import Array
from .base import BaseRFFBoost
from .docstrings import ATTRIBUTES, PARAMETERS
from .parameters import has_attribute, loss_of_classes, with_keywords_of


class RFFBoostClassifier(ClassifierMixin, BaseRFFBoost):
    __doc__ = f"""Boosting of random Fourier features, trees or any learner, for classification.

    Parameters
    ----------
    {PARAMETERS.format(loss='"log_loss"')}
    class_weight : None, "balanced" or dict, default=None
        Factors on the sample weights by class label, 1 for classes left out. "balanced" gives every class the same
        total weight. They apply to held-out rows and ``eval_set`` too.

    Attributes
    ----------
    classes_ : ndarray
        Class labels; 0 .. L-1 for a multilabel target.
    {ATTRIBUTES}

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from rffboost_ext import RFFBoostClassifier
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> clf = RFFBoostClassifier(loss="exponential", learner="rff_1", random_state=0).fit(X, y)
    >>> bool(clf.score(X, y) > 0.95)
    True
    """

    task = "classification"
    kept_levels = "labels"
    default_loss = "log_loss"
    classes_: Array
    constraints = BaseRFFBoost.constraints | {"class_weight": ClassWeightCheck()}

    @with_keywords_of(BaseRFFBoost)
    def __init__(
        self,
        loss: str | Loss = "auto",
        learner: str | Learner = "auto",
        *,
        class_weight: Any = None,
        **params: Any,
    ) -> None:
        super().__init__(loss, learner, **params)
        self.class_weight = class_weight

    def _targets(self, labels: Array | None = None) -> TargetEncoder:
        return class_targets(type(self).__name__, labels, self.class_weight, self._takes_columns)

    def _takes_columns(self, n_columns: int) -> bool:
        """Whether the loss takes a label and its own columns where the target has so many."""
        loss = loss_of_classes(self)
        return loss is not None and has_own_columns(loss, n_columns)

    def _read_target(self, y: Any) -> tuple[TargetEncoder, Array]:
        labels = label_array(y)
        return self._targets(labels), labels

    def _after_training(self, rows: Dataset, targets: TargetEncoder) -> None:
        assert targets.classes is not None
        self.classes_ = targets.classes

    def _check_target(self, parts: Parts, data: Dataset, targets: TargetEncoder) -> None:
        assert targets.classes is not None
        if len(targets.classes) < 2:
            raise ValueError(
                f"{type(self).__name__}: y must have at least 2 classes, got one class: "
                f"{targets.classes.tolist()[0]!r}. Splits with stratify=y keep rare classes; rows of weight 0 do "
                f"not count. scikit-learn's DummyClassifier predicts a constant class, and its IsolationForest "
                f"finds rows unlike the others"
            )
        if targets.n_classes is None:
            parts.loss.n_scores(data.y)
        else:
            parts.require_multiclass(data.y, targets.n_classes)
        if self._is_warm_start() and not np.array_equal(targets.classes, self.classes_):
            raise ValueError(
                f"{type(self).__name__}: y must have the classes of the previous fit, {self.classes_}, when "
                f"warm_start is set, got {targets.classes}"
            )

    @classmethod
    def from_ensemble(
        cls, ensemble: Ensemble, loss: Loss, encoder: FeatureEncoder, learner: str | Learner = "tree"
    ) -> RFFBoostClassifier:
        model = super().from_ensemble(ensemble, loss, encoder, learner)
        model.classes_ = np.arange(loss.link.inverse(ensemble.baseline[None]).shape[1])
        return model

    def decision_function(self, X: Any, base_margin: Any = None) -> Array:
        """Raw scores: (n,) for two classes, else (n, K), or (n, L) for a multilabel target.

        A loss may have another number of scores, as for ordered classes; ``raw_scores`` returns them. The result
        is then the log-odds of the second of two classes, or the logs of the probabilities of several.

        Parameters
        ----------
        {rows}

        Returns
        -------
        ndarray of shape (n,), (n, K) or (n, L)
        """
        return self._decision_values(self.raw_scores(X, base_margin))

    def _decision_values(self, raw: Array) -> Array:
        return decision_values(raw, len(self.classes_), self.loss_)

    def predict_proba(self, X: Any, base_margin: Any = None) -> Array:
        """Class probabilities, (n, K), in the order of ``classes_``; of labels, (n, L), for a multilabel target.

        Parameters
        ----------
        {rows}

        Returns
        -------
        ndarray of shape (n, K) or (n, L)
        """
        raw = self.raw_scores(X, base_margin)
        return self.loss_.link.inverse(raw)

    def _response(self, raw: Array) -> Array:
        return decode_labels(self.loss_.link.inverse(raw), self.classes_, self.loss_.multilabel)

    def score(self, X: Any, y: Any, sample_weight: Any = None, base_margin: Any = None) -> float:
        """The accuracy of predicted classes.

        Parameters
        ----------
        X : array-like of shape (n, d)
        y : array-like of shape (n,)
            Class labels.
        {weight}

        Returns
        -------
        float
        """
        from sklearn.metrics import accuracy_score

        labels = y if self.loss_.multilabel else first_labels(y)
        return float(accuracy_score(labels, self.predict(X, base_margin), sample_weight=sample_weight))

    def staged_decision_function(self, X: Any, base_margin: Any = None) -> Iterator[Array]:
        """The decision function after 1, 2, ... rounds; those of several models take turns."""
        return map(self._decision_values, self._staged_raw(X, base_margin))

    def staged_predict_proba(self, X: Any, base_margin: Any = None) -> Iterator[Array]:
        """Class probabilities after 1, 2, ... rounds; those of several models take turns."""
        return (self.loss_.link.inverse(raw) for raw in self._staged_raw(X, base_margin))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        loss = loss_of_classes(self) if has_attribute(self, "learner", "multi_output") else None
        tags.classifier_tags.multi_class = loss is not None and scores_for(loss, 1, 3) is not None
        tags.classifier_tags.multi_label = loss is not None and scores_for(loss, 2, 3) == 2
        return tags
