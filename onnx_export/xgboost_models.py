"""Export sources of XGBoost's own tree models."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.utils.validation import check_is_fitted
from xgboost import Booster, DMatrix, XGBClassifier, XGBModel

from rffboost_ext.exporting import (
    XGBOOST,
    Array,
    CategoryEncoding,
    as_columns,
    categorical_columns,
    is_table,
    native_table,
    read_model,
    read_table,
    sorted_codes,
)
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.losses import BinaryLogitLink

from .host_links import estimator_link, host_codes, n_classes_of, prediction_links
from .source import ExportSource, export_source, fields_of_loss, names_of

OBJECTIVES = prediction_links(XGBOOST)
"""The link of each XGBoost objective."""


@export_source.register
def _(model: XGBModel) -> ExportSource:
    check_is_fitted(model)
    if isinstance(model, rxgb.XGBClassifier | rxgb.XGBRegressor):
        return own_loss_source(model)
    if callable(model.objective):
        raise ValueError(
            f"objective must be one of XGBoost's own, got {model.objective!r}: the link of a callable is unknown. "
            f"Give it as a Loss to rffboost_ext.interop.xgboost.XGBClassifier or XGBRegressor"
        )
    if isinstance(model, XGBClassifier) and model.objective == "binary:logitraw":
        raise ValueError(
            "objective 'binary:logitraw' has no ONNX form here: XGBoost's estimator compares raw scores with 0.5; "
            "export its Booster, get_booster(), or fit with 'binary:logistic'"
        )
    return objective_source(model, type(model).__name__, names_of(model))


@export_source.register
def _(booster: Booster) -> ExportSource:
    return objective_source(booster, "Booster", tuple(booster.feature_names or ()))


def own_loss_source(model: rxgb.XGBClassifier | rxgb.XGBRegressor) -> ExportSource:
    """The source of a model that XGBoost trained with a Loss."""
    loss, uses_offset = model.loss_, model.uses_base_margin_
    if uses_offset and model.score_conversion().slope != 1.0:
        raise ValueError(
            f"a model that was fitted with base_margin cannot be exported with loss {loss!r}: its raw "
            f"scores have other units than XGBoost's"
        )
    return xgboost_source(
        model,
        name=type(model).__name__,
        to_raw=model.score_conversion().raw,
        n_offsets=len(model.baseline_) if uses_offset else 0,
        classes=np.arange(len(model.baseline_)) if loss.multilabel else getattr(model, "classes_", None),
        feature_names=names_of(model),
        **fields_of_loss(loss, len(model.baseline_)),
    )


def objective_source(model: Booster | XGBModel, name: str, feature_names: tuple[str, ...]) -> ExportSource:
    """The source of a model of scalar trees with one of XGBoost's own objectives."""
    found = read_model(model)
    kind, n_outputs = found.objective, found.ensemble.n_outputs
    if kind not in OBJECTIVES:
        raise ValueError(f"objective {kind!r} has no ONNX link here; supported: {', '.join(sorted(OBJECTIVES))}")
    link, is_classifier = OBJECTIVES[kind], isinstance(model, XGBClassifier)
    if isinstance(model, XGBModel):
        link = estimator_link(link, is_classifier, kind, name)
    if isinstance(link, BinaryLogitLink) and n_outputs > 1:
        raise ValueError(f"objective {kind!r} of {n_outputs} labels per row has no ONNX form here")
    n_classes = n_classes_of(link, n_outputs) if is_classifier or not isinstance(model, XGBModel) else None
    return xgboost_source(
        model,
        name=name,
        to_raw=as_columns,
        loss=kind,
        link=link,
        response=link.inverse,
        classes=None if n_classes is None else np.arange(n_classes),
        feature_names=feature_names,
    )


def xgboost_source(
    model: Booster | XGBModel,
    name: str,
    to_raw: Callable[[Array], Array],
    **facts: Any,
) -> ExportSource:
    """The source of a model of scalar trees."""
    found = read_model(model)
    booster, known = found.booster, found.read_categories()
    plain = rxgb.to_ensemble(model)
    ensemble, encoding = sorted_codes(plain, known)
    rounds = {"iteration_range": (0, len(plain)), "validate_features": False, "output_margin": True}
    return ExportSource(
        estimator=name,
        ensemble=ensemble.compact(),
        n_features=booster.num_features(),
        raw=lambda X: to_raw(booster.predict(to_dmatrix(X, known, encoding), **rounds)),
        eps=float(np.finfo(np.float32).eps),
        encoding=encoding,
        absent_is_missing=True,
        **facts,
    )


def to_dmatrix(X: Any, known: Sequence[Array | None], encoding: CategoryEncoding | None) -> DMatrix:
    """X for XGBoost: a table of categorical columns unchanged, else with XGBoost's codes for categories."""
    if encoding is None:
        return DMatrix(X if issparse(X) else np.asarray(X))
    X = read_table(X)
    if is_table(X) and set(encoding.coded) <= set(categorical_columns(X)):
        return DMatrix(native_table(X), enable_categorical=True)
    kinds = ["q" if entry is None else "c" for entry in known]
    return DMatrix(host_codes(X, known, encoding), feature_types=kinds, enable_categorical=True)
