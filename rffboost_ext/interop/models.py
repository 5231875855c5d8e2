"""Models of XGBoost and LightGBM as ensembles, as fitted estimators, and as starts of a fit."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..core import Learner, Loss
from ..estimators.base import BaseRFFBoost
from ..estimators.classifier import RFFBoostClassifier
from ..estimators.init_model import InitModel
from ..estimators.regressor import RFFBoostRegressor
from ..losses.registry import LOSSES
from ..rows.category_encoding import CategoryEncoding
from ..rows.feature_encoder import FeatureEncoder, lacks_scores
from ..terms.ensemble import Ensemble
from ..utils.typing import Array
from ..utils.warnings import warn_user
from .host import HostModel, host_of
from .objectives import MatrixObjective
from .score_conversion import ScoreConversion, prepare_for_outputs

NO_MODEL = "model must be a Booster or a scikit-learn estimator of XGBoost or LightGBM"
"""Error message for other objects than a model."""


def to_ensemble(model: Any) -> Ensemble:
    """A host's model as an :class:`~rffboost_ext.Ensemble` of the same raw scores, one term per boosting round.

    Parameters
    ----------
    model : xgboost.Booster, lightgbm.Booster or a fitted scikit-learn estimator of these
        Of XGBoost any objective with a known link; gbtree or dart, with leaves of one or several outputs, or
        gblinear, which is one term. Of LightGBM gbdt, dart or rf, also with linear leaves. For categorical splits
        the ensemble acts on codes, as the hosts do on arrays.
        After early stopping the rounds up to the best are read, but all of a Booster of XGBoost, as its own
        ``predict`` uses them. For fewer, slice the Booster or the result.

    Returns
    -------
    Ensemble
        Raw scores equal ``predict(output_margin=True)`` of XGBoost up to round-off, or ``predict(raw_score=True)``
        of LightGBM, also for missing values (NaN). For LightGBM's random forest ("rf") they are the mean over its
        trees, as in ``predict``, not their sum.

    Raises
    ------
    ValueError
        If the model has an unknown objective, treats values other than NaN as missing
        (XGBoost's ``missing``), or was trained with ``zero_as_missing`` of LightGBM.
    TypeError
        If it is no model of XGBoost or LightGBM.

    Examples
    --------
    >>> import numpy as np, xgboost
    >>> from rffboost_ext.interop import xgboost as rxgb
    >>> X = np.arange(20.0)[:, None]
    >>> model = xgboost.XGBRegressor(n_estimators=5).fit(X, X[:, 0])
    >>> bool(np.abs(rxgb.to_ensemble(model).raw(X)[:, 0] - model.predict(X)).max() < 1e-5)
    True
    """
    return raw_ensemble(model, read_model(model))


def read_model(model: Any) -> HostModel:
    """A model of a host as ``to_ensemble`` takes it, in the host's units."""
    return host_of(model, NO_MODEL).read(model)


def raw_ensemble(model: Any, host_model: HostModel) -> Ensemble:
    """The ensemble of a model in raw scores of its loss, if it is an estimator with one of ours."""
    if not hasattr(model, "score_conversion"):
        return host_model.ensemble
    conversion: ScoreConversion = model.score_conversion()
    scaled = host_model.ensemble * (1.0 / conversion.slope)
    return replace(scaled, baseline=scaled.baseline + conversion.offset)


def bind(
    booster: Any,
    loss: str | Loss | MatrixObjective,
    baseline: Any = None,
    *,
    base_margin: bool = False,
) -> BaseRFFBoost:
    """A booster that was trained with :func:`objective` as a fitted estimator with the loss's own link.

    Parameters
    ----------
    booster : xgboost.Booster or lightgbm.Booster
        The trained booster.
    loss : MatrixObjective, Loss or str
        The result of :func:`objective` that it was trained with, whose latest training counts; or the loss, if its
        link does not depend on the targets, or as prepared for them. A UserWarning is issued if the booster
        records an objective of the host with another link. The log loss of several labels is
        ``MultilabelLogLoss()`` for LightGBM, whose booster does not say whether its scores are those of labels or
        of classes.
    baseline : ndarray of shape (C,)
        For LightGBM the result of :func:`intercept`, which files do not record; 0 for each output if it was not
        called. XGBoost's booster has its own.
    base_margin : bool, default=False
        Whether it was trained with a ``base_margin``, or an ``init_score`` of each row, which files do not record.
        Predictions then need the argument ``base_margin``; it takes the place of ``base_score``, as in XGBoost.

    Returns
    -------
    RFFBoostClassifier or RFFBoostRegressor
        Fitted: ``predict_proba``, pickle, ONNX export. It takes tables with the booster's columns and categories,
        or codes if the booster was trained on codes.

    Raises
    ------
    ValueError, TypeError
        If the baseline is not finite numbers, one for each output, the loss is unknown, its link depends on
        targets that are not known here, or the booster cannot be read.

    Examples
    --------
    >>> import numpy as np, xgboost
    >>> from rffboost_ext.interop import xgboost as rxgb
    >>> X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    >>> objective = rxgb.objective("log_loss")
    >>> matrix = xgboost.DMatrix(X, y)
    >>> booster = xgboost.train(rxgb.intercept("log_loss", matrix), matrix, 5, obj=objective)
    >>> rxgb.bind(booster, objective).predict_proba(X).shape
    (20, 2)
    """
    host, host_model = host_of(booster, NO_MODEL), read_model(booster)
    ensemble, encoding = host_model.encoded(host_model.ensemble)
    n_outputs = ensemble.n_outputs
    training_loss = loss.loss_ or loss.loss if isinstance(loss, MatrixObjective) else LOSSES.create(loss)
    loss = prepare_for_outputs(training_loss, n_outputs, host_model.n_targets)
    if not host.stores_start:
        ensemble = replace(ensemble, baseline=check_bound_baseline(baseline, n_outputs))
    elif base_margin:
        ensemble = replace(ensemble, baseline=np.zeros(n_outputs))
    if host_model.link not in (None, loss.link):
        warn_user(
            f"bind: the booster records the objective {host_model.objective!r}, whose link differs from that of "
            f"loss {loss!r}; predictions are right only if its scores are raw scores of the loss"
        )
    model = fitted(host_model, ensemble, loss, categories=encoding)
    if base_margin:
        model.uses_base_margin_ = True
    return model


def check_bound_baseline(baseline: Any, n_outputs: int) -> Array:
    """The baseline of a booster, (C,), as float64, or a ValueError."""
    values = np.asarray(baseline, dtype=np.float64)
    if values.shape not in {(), (n_outputs,)} or not np.isfinite(values).all():
        raise ValueError(
            f"bind: baseline must be the result of intercept(), finite numbers of shape ({n_outputs},), or 0, got "
            f"{baseline!r}"
        )
    return np.array(np.broadcast_to(values, n_outputs))


def init_model(model: Any) -> InitModel:
    """A host's model as an initial model; that of XGBoost has classes 0 .. K-1, that of a Booster none."""
    host_model = read_model(model)
    ensemble, encoding = host_model.encoded(raw_ensemble(model, host_model))
    return replace(
        host_model,
        ensemble=ensemble,
        link=model.loss_.link if hasattr(model, "loss_") else host_model.link,
        categories=encoding,
        uses_base_margin=getattr(model, "uses_base_margin_", None),
        description=repr(model),
    )


def fitted(
    host_model: HostModel,
    ensemble: Ensemble,
    loss: Loss,
    learner: str | Learner = "tree",
    categories: CategoryEncoding | None = None,
) -> BaseRFFBoost:
    """A fitted estimator that predicts with an ensemble of raw scores on the columns of a host's model.

    The ensemble takes codes of `categories`, if there are any; the learner is that of a later fit.
    """
    cls = RFFBoostClassifier if loss.task == "classification" else RFFBoostRegressor
    encoder = FeatureEncoder(cls.__name__)
    # Whether there were missing values in training is not known here.
    every = np.ones(host_model.n_features, dtype=bool)
    has_scores = not lacks_scores(ensemble, np.zeros((1, host_model.n_features)), every)
    columns = {"categories": categories, "missing_columns": every & has_scores}
    encoder.__dict__.update(columns, n_features_in_=host_model.n_features)
    if host_model.names is not None and host_model.has_exact_names:
        encoder.feature_names_in_ = host_model.names
    return cls.from_ensemble(ensemble, loss, encoder, learner)
