"""Losses and cosines in LightGBM's training loop, and its models as ensembles."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..core import Link, Loss
from ..estimators.base import BaseRFFBoost
from ..estimators.init_model import InitModel
from ..losses.registry import LOSSES
from ..preprocessing.category_encoding import sorted_codes
from ..terms.ensemble import Ensemble
from ..utils.param_validation import OPTIONAL, Integer, require
from ..utils.typing import Array
from . import objectives
from .attachments import attach
from .fitted_estimator import fitted
from .initial_scores import warn_if_objective_differs
from .lightgbm_model import categories_of, certain_names_of, names_of, parse_model, read_rounds
from .links import LIGHTGBM
from .matrix_rows import read_targets, read_weights
from .objectives import MatrixMetric, MatrixObjective
from .prepared_losses import prepare_for_outputs, prepare_for_training
from .score_conversion import slope_of

try:
    from lightgbm import Booster, Dataset, LGBMModel
except ImportError as error:
    raise ImportError(
        "rffboost_ext.interop.lightgbm needs LightGBM, which is not installed: pip install 'rffboost-ext[peers]'"
    ) from error

from .lightgbm_cosines import CosineObjective
from .lightgbm_estimators import LGBMClassifier, LGBMRegressor
from .lightgbm_initial_scores import recorded_link

__all__ = [
    "CosineObjective",
    "LGBMClassifier",
    "LGBMRegressor",
    "attach",
    "bind",
    "intercept",
    "metric",
    "objective",
    "to_ensemble",
]


def objective(loss: str | Loss) -> MatrixObjective:
    """One of our losses as ``params["objective"]`` of ``lightgbm.train``.

    LightGBM fits no intercept for a callable and starts from 0: see :func:`intercept`. If no column can be split,
    as with few rows, it fails with any callable unless ``feature_pre_filter`` is False.

    Parameters
    ----------
    loss : str or Loss
        A registered name or an instance.

    Raises
    ------
    ValueError, TypeError
        If the loss is unknown or invalid.

    Examples
    --------
    >>> import lightgbm, numpy as np
    >>> from rffboost_ext.interop import lightgbm as rlgb
    >>> X, y = np.arange(200.0)[:, None], np.repeat([0, 1], 100)
    >>> data = lightgbm.Dataset(X, y)
    >>> baseline = rlgb.intercept("exponential", data)
    >>> params = {"objective": rlgb.objective("exponential"), "verbose": -1}
    >>> booster = lightgbm.train(params, data, 10)
    >>> bool((rlgb.bind(booster, "exponential", baseline).predict(X) == y).all())
    True
    """
    return MatrixObjective(LOSSES.create(loss), unset=0.0)


@dataclass(frozen=True)
class LightGBMMetric:
    """A metric for ``feval`` of ``lightgbm.train``."""

    metric: MatrixMetric

    def __call__(self, scores: Array, data: Dataset) -> tuple[str, float, bool]:
        """Name, value, and False: lower is better."""
        return *self.metric(scores, data), False


def metric(loss: str | Loss) -> LightGBMMetric:
    """The weighted mean of a loss as the ``feval`` of ``lightgbm.train``.

    Parameters
    ----------
    loss : str or Loss
        A registered name or an instance.

    Returns
    -------
    LightGBMMetric
        The metric; lower is better.

    Raises
    ------
    ValueError, TypeError
        If the loss is unknown or invalid.
    """
    return LightGBMMetric(objectives.metric(loss))


def intercept(loss: str | Loss, data: Dataset, *others: Dataset) -> Array:
    """Start ``lightgbm.train`` from the loss's baseline, by the ``init_score`` of its data.

    Parameters
    ----------
    loss : str or Loss
        A registered name or an instance.
    data : lightgbm.Dataset
        The training data: labels and weights.
    *others : lightgbm.Dataset
        Evaluation sets, which start from the same score.

    Returns
    -------
    ndarray of shape (C,)
        The baseline. LightGBM stores no init_score: add it to predictions, or pass it to :func:`bind`.

    Raises
    ------
    ValueError, TypeError
        If the loss is unknown, labels do not suit it, or a set has another ``init_score`` for each row: without
        this function, training starts from that.
    """
    loss = LOSSES.create(loss)
    y = read_targets(data, loss)
    _, baseline = prepare_for_training(loss, y, read_weights(data, len(y)))
    for dataset in (data, *others):
        require_constant_scores(dataset.init_score, len(baseline))
    for dataset in (data, *others):
        rows = np.tile(baseline, (len(read_targets(dataset, loss)), 1))
        dataset.set_init_score(rows[:, 0] if len(baseline) == 1 else rows)
    return baseline


def require_constant_scores(given: Any, n_outputs: int) -> None:
    """Raise a ValueError if an ``init_score``, (n, C), or of n C numbers by columns, differs between rows."""
    if given is None:
        return
    scores = np.asarray(given)
    if (np.ptp(scores.reshape(n_outputs, -1) if scores.ndim == 1 else scores.T, axis=1) > 0.0).any():
        raise ValueError(
            "intercept: init_score of the data must be unset or constant, got one that differs by row"
        )


def to_ensemble(model: Booster | LGBMModel, *, n_rounds: int | None = None) -> Ensemble:
    """A LightGBM model as an :class:`~rffboost_ext.Ensemble` of the same raw scores, one term per boosting round.

    Parameters
    ----------
    model : lightgbm.Booster, LGBMClassifier, LGBMRegressor or another of its estimators
        Trees: gbdt, dart or rf, also with linear leaves. For categorical splits the ensemble acts on codes, as
        LightGBM does on arrays.
    n_rounds : int, optional
        Rounds to take; by default up to the best after early stopping, else all.

    Returns
    -------
    Ensemble
        Raw scores equal ``predict(raw_score=True)``, also for missing values (NaN). For a random forest ("rf")
        they are the mean over its trees, as in ``predict``, not their sum.

    Raises
    ------
    ValueError
        If the model was trained with zero_as_missing, or has fewer rounds than asked for.
    TypeError
        If it is not a LightGBM model.
    """
    booster = booster_of(model)
    known = booster.num_trees() // booster.num_model_per_iteration()
    require("to_ensemble", "n_rounds", n_rounds, Integer(1, known) | OPTIONAL)
    terms = tuple(read_rounds(parse_model(booster.model_to_string(num_iteration=n_rounds))))
    width = booster.num_model_per_iteration()
    baseline, length = np.zeros(width), 1.0
    if isinstance(model, LGBMClassifier | LGBMRegressor):
        baseline, length = model.baseline_, 1.0 / slope_of(model.loss_)
    return Ensemble(baseline, terms, np.tile([1.0, length], (len(terms), 1)))


def bind(booster: Booster, loss: str | Loss, baseline: Array, *, base_margin: bool = False) -> BaseRFFBoost:
    """A booster that was trained with :func:`objective` as a fitted estimator with the loss's own link.

    Parameters
    ----------
    booster : lightgbm.Booster
        The trained booster.
    loss : str or Loss
        The loss that it was trained with, which files do not record. A UserWarning is issued if the booster
        records an objective of LightGBM's with another link. The log loss of several labels is
        ``MultilabelLogLoss()``, as a booster does not say whether its scores are those of labels or of classes.
    baseline : ndarray of shape (C,)
        The result of :func:`intercept`, which files do not record; 0 for each output if it was not called.
    base_margin : bool, default=False
        Whether it was trained from an ``init_score`` of each row, which files do not record: predictions then need
        it as the argument ``base_margin``.

    Returns
    -------
    RFFBoostClassifier or RFFBoostRegressor
        Fitted: ``predict_proba``, pickle, ONNX export.

    Raises
    ------
    ValueError, TypeError
        If the baseline is not finite numbers, one for each output, the loss is unknown, or the booster cannot be
        read.
    """
    n_outputs = booster_of(booster).num_model_per_iteration()
    loss, start = prepare_for_outputs(LOSSES.create(loss), n_outputs), check_bound_baseline(baseline, n_outputs)
    ensemble, coding = sorted_codes(to_ensemble(booster), categories_of(booster))
    whole = Ensemble(ensemble.baseline + start, ensemble.terms, ensemble.moves)
    text = parse_model(booster.model_to_string(num_iteration=1))
    if text.objective != "custom":
        known = text.objective in LIGHTGBM
        warn_if_objective_differs(text.header["objective"], recorded_link(text) if known else None, loss)
    names, n_features = certain_names_of(booster), booster.num_feature()
    return fitted(whole, loss, n_features, names=names, categories=coding, base_margin=base_margin)


def check_bound_baseline(baseline: Any, n_outputs: int) -> Array:
    """The baseline of a booster, (C,), as float64, or a ValueError or TypeError."""
    allowed = f"bind: baseline must be the result of intercept(), finite numbers of shape ({n_outputs},), or 0"
    given = np.asarray(baseline, dtype=object)
    if not all(isinstance(value, Real) and not isinstance(value, bool) for value in given.ravel()):
        raise TypeError(f"{allowed}, got {baseline!r}")
    if given.shape not in {(), (n_outputs,)}:
        raise ValueError(f"{allowed}, got shape {given.shape}")
    start = given.astype(np.float64)
    if not np.isfinite(start).all():
        raise ValueError(f"{allowed}, got {baseline!r}")
    return np.array(np.broadcast_to(start, n_outputs))


def booster_of(model: Any) -> Booster:
    """The booster of a model of LightGBM, or a TypeError."""
    if isinstance(model, LGBMModel):
        check_is_fitted(model)
        return model.booster_
    if not isinstance(model, Booster):
        raise TypeError(f"model must be a Booster or a scikit-learn estimator of LightGBM, got {model!r}")
    return model


def model_link(model: Booster | LGBMModel) -> Link | None:
    """The model's link; None if it is unknown, as for a callable objective."""
    if isinstance(model, LGBMClassifier | LGBMRegressor):
        return model.loss_.link
    text = parse_model(booster_of(model).model_to_string(num_iteration=1))
    if text.objective == "custom":
        return None
    return recorded_link(text)


def init_model(model: Any) -> InitModel:
    """A LightGBM model as an initial model; a Booster has no classes."""
    booster, classes = booster_of(model), getattr(model, "classes_", None)
    ensemble, coding = sorted_codes(to_ensemble(model), categories_of(booster))
    d, names = booster.num_feature(), names_of(booster)
    return InitModel(ensemble, model_link(model), d, classes, coding, names=names, description=repr(model))
