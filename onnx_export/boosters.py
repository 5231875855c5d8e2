"""Tree models of XGBoost and LightGBM themselves, read into the same ensembles."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted
from xgboost import Booster, DMatrix, XGBModel

from rffboost_ext.core import Array
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.interop.links import XGBOOST
from rffboost_ext.interop.xgboost_json import parsed

from .links import Sigmoid, Softmax, checked_link, evaluate, responses
from .source import Source, names_of, read

OBJECTIVES = responses(XGBOOST)
"""The link of each XGBoost objective."""


@read.register
def _(model: XGBModel) -> Source:
    check_is_fitted(model)
    if isinstance(model, rxgb.XGBClassifier | rxgb.XGBRegressor):
        return own_loss(model)
    if callable(model.objective):
        raise ValueError(
            f"objective must be one of XGBoost's own, got {model.objective!r}: the model does not tell which link "
            f"a callable means. Put it as a Loss into rffboost_ext.interop.xgboost.XGBClassifier or XGBRegressor"
        )
    if model.objective == "binary:logitraw":
        raise ValueError(
            "objective 'binary:logitraw' has no ONNX form here: XGBoost's estimator compares raw scores with 0.5; "
            "export its Booster, get_booster(), or fit with 'binary:logistic'"
        )
    return source_of(model, type(model).__name__, names_of(model))


@read.register
def _(booster: Booster) -> Source:
    return source_of(booster, "Booster", tuple(booster.feature_names or ()))


def own_loss(model: rxgb.XGBClassifier | rxgb.XGBRegressor) -> Source:
    """The source of a model that XGBoost trained with one of our losses or a custom one."""
    ensemble, loss = rxgb.to_ensemble(model).compact(), model.loss_
    return Source(
        estimator=type(model).__name__,
        loss=repr(loss),
        ensemble=ensemble,
        link=checked_link(loss, ensemble.n_outputs),
        n_features=model.n_features_in_,
        raw=lambda X: columns(model.predict(np.asarray(X), output_margin=True, validate_features=False)),
        response=loss.inverse_link,
        classes=getattr(model, "classes_", None),
        feature_names=names_of(model),
        eps=float(np.finfo(np.float32).eps),
    )


def source_of(model: Booster | XGBModel, name: str, feature_names: tuple[str, ...]) -> Source:
    """The source of a model of scalar trees with one of XGBoost's own objectives."""
    booster = rxgb.booster_of(model)
    kind = rxgb.objective_name(parsed(booster))
    if kind not in OBJECTIVES:
        raise ValueError(f"objective {kind!r} has no ONNX link here; supported: {', '.join(sorted(OBJECTIVES))}")
    ensemble, link = rxgb.to_ensemble(model), OBJECTIVES[kind]
    if isinstance(link, Sigmoid) and ensemble.n_outputs > 1:
        raise ValueError(f"objective {kind!r} of {ensemble.n_outputs} labels per row has no ONNX form here")
    rounds = {"iteration_range": (0, len(ensemble)), "validate_features": False, "output_margin": True}
    n_classes = {Sigmoid: 2, Softmax: ensemble.n_outputs}.get(type(link))
    return Source(
        estimator=name,
        loss=kind,
        ensemble=ensemble.compact(),
        link=link,
        n_features=booster.num_features(),
        raw=lambda X: columns(booster.predict(DMatrix(np.asarray(X)), **rounds)),
        response=lambda scores: evaluate(link, scores),
        classes=None if n_classes is None else np.arange(n_classes),
        feature_names=feature_names,
        eps=float(np.finfo(np.float32).eps),
    )


def columns(scores: Any) -> Array:
    """Scores as (n, C), float64."""
    return np.asarray(scores.reshape(len(scores), -1), dtype=np.float64)
