"""Losses and cosines in XGBoost's training loop, and its models as ensembles."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..core import Link, Loss
from ..estimators.base import BaseRFFBoost
from ..estimators.init_model import InitModel
from ..learners.trees.xgboost_model import model_categories, parse_model
from ..losses.registry import LOSSES
from ..preprocessing.category_encoding import sorted_codes
from .attachments import attach
from .fitted_estimator import fitted
from .initial_scores import warn_if_objective_differs
from .links import XGBOOST, link_of
from .matrix_rows import read_targets, read_weights
from .objectives import MatrixObjective, metric
from .prepared_losses import has_score_for_each_class, prepare_for_outputs, prepare_for_training

try:
    from xgboost import Booster, DMatrix, XGBModel
except ImportError as error:
    raise ImportError(
        "rffboost_ext.interop.xgboost needs XGBoost, which is not installed: pip install 'xgboost>=3.2'"
    ) from error

from .xgboost_base_score import base_score_of
from .xgboost_cosines import CosineObjective
from .xgboost_ensemble import booster_of, names_of, to_ensemble
from .xgboost_estimators import XGBClassifier, XGBRegressor

__all__ = [
    "CosineObjective",
    "XGBClassifier",
    "XGBRegressor",
    "attach",
    "bind",
    "intercept",
    "metric",
    "objective",
    "to_ensemble",
]


def objective(loss: str | Loss) -> MatrixObjective:
    """One of our losses as ``obj`` of ``xgboost.train``.

    XGBoost fits no intercept for a callable and starts from 0.5: add :func:`intercept` to the parameters. Margins
    are raw scores of the loss; its ``link``, or :func:`bind`, maps them to probabilities. For the
    exponential loss they are half the log-odds: compared with XGBoost's logistic loss, reg_lambda and
    min_child_weight have a quarter of the effect, the learning rate twice. :class:`XGBClassifier` uses log-odds.

    Parameters
    ----------
    loss : str or Loss
        A registered name or an instance.

    Returns
    -------
    MatrixObjective

    Raises
    ------
    ValueError, TypeError
        If the loss is unknown or invalid.

    Examples
    --------
    >>> import numpy as np, xgboost
    >>> from rffboost_ext.interop import xgboost as rxgb
    >>> X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    >>> matrix = xgboost.DMatrix(X, y)
    >>> params = {"max_depth": 2} | rxgb.intercept("exponential", matrix)
    >>> booster = xgboost.train(params, matrix, 10, obj=rxgb.objective("exponential"))
    >>> bool((rxgb.bind(booster, "exponential").predict(X) == y).all())
    True
    """
    return MatrixObjective(LOSSES.create(loss), unset=0.5)


def intercept(loss: str | Loss, matrix: DMatrix) -> dict[str, Any]:
    """Parameters by which ``xgboost.train`` starts from the loss's baseline and evaluates only :func:`metric`.

    Parameters
    ----------
    loss : str or Loss
        A registered name or an instance.
    matrix : xgboost.DMatrix
        The training data: labels and weights.

    Returns
    -------
    dict
        ``base_score``, which XGBoost replaces by a ``base_margin`` of the matrix, ``disable_default_eval_metric``,
        and for several scores ``num_class``, if there is one for each class, or ``num_target``.

    Raises
    ------
    ValueError, TypeError
        If the loss is unknown, or labels do not suit it.
    """
    loss = LOSSES.create(loss)
    y, weight = read_targets(matrix, loss), read_weights(matrix, matrix.num_row())
    loss, baseline = prepare_for_training(loss, y, weight)
    params = {"base_score": base_score_of(baseline, "reg:squarederror"), "disable_default_eval_metric": True}
    if has_score_for_each_class(loss, baseline):
        return params | {"num_class": len(baseline), "objective": "multi:softprob"}
    return params | ({"num_target": len(baseline)} if len(baseline) > 1 else {})


def bind(
    booster: Booster, loss: str | Loss, *, n_rounds: int | None = None, base_margin: bool = False
) -> BaseRFFBoost:
    """A booster that was trained with :func:`objective` as a fitted estimator with the loss's own link.

    Parameters
    ----------
    booster : xgboost.Booster
        The trained booster.
    loss : str or Loss
        The loss that it was trained with, which files do not record. A UserWarning is issued if the booster
        records an objective of XGBoost's with another link.
    n_rounds : int, optional
        Rounds to take, as in :func:`to_ensemble`.
    base_margin : bool, default=False
        Whether it was trained on a matrix with a ``base_margin``, which files do not record. Predictions then need
        the argument ``base_margin``; it takes the place of ``base_score``, as in XGBoost.

    Returns
    -------
    RFFBoostClassifier or RFFBoostRegressor
        Fitted: ``predict_proba``, pickle, ONNX export. It takes tables with the booster's columns and categories,
        or codes if the booster was trained on codes.
    """
    ensemble, coding = sorted_codes(
        to_ensemble(booster, n_rounds=n_rounds), model_categories(parse_model(booster))
    )
    if base_margin:
        ensemble = replace(ensemble, baseline=np.zeros(ensemble.n_outputs))
    n_targets = int(parse_model(booster)["learner_model_param"]["num_target"])
    loss = prepare_for_outputs(LOSSES.create(loss), ensemble.n_outputs, n_targets)
    objective = parse_model(booster)["objective"]["name"]
    # A booster trained with a callable names the default objective.
    if objective != "reg:squarederror":
        warn_if_objective_differs(objective, XGBOOST[objective], loss)
    names, n_features = names_of(booster), booster.num_features()
    return fitted(ensemble, loss, n_features, names=names, categories=coding, base_margin=base_margin)


def model_link(model: Booster | XGBModel) -> Link | None:
    """The model's link; None if it is unknown, as for a callable objective."""
    if isinstance(model, XGBClassifier | XGBRegressor):
        return model.loss_.link
    if isinstance(model, XGBModel) and callable(model.objective):
        return None
    return link_of(XGBOOST, parse_model(booster_of(model))["objective"]["name"], "XGBoost")


def init_model(model: Any) -> InitModel:
    """An XGBoost model as an initial model; its classes are 0 .. K-1."""
    booster = booster_of(model)
    ensemble, coding = sorted_codes(to_ensemble(model), model_categories(parse_model(booster)))
    link, names = model_link(model), names_of(booster)
    known = InitModel(ensemble, link, booster.num_features(), categories=coding, names=names)
    return replace(known, uses_base_margin=getattr(model, "uses_base_margin_", None))
