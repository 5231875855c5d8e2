"""Quantile and conformal regressors: one ensemble of several outputs, and links on its response."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rffboost_ext import ConformalRegressor, RFFBoostQuantileRegressor
from rffboost_ext.losses import IdentityLink, SortedLink

from .derived_links import IntervalLink, MedianLink
from .output_projection import concatenate_outputs
from .source import ExportSource, ExtraOutput, export_source, names_of, require_own_predictions


@export_source.register
def _(model: RFFBoostQuantileRegressor) -> ExportSource:
    check_is_fitted(model)
    require_own_predictions(model, RFFBoostQuantileRegressor)
    sources = [export_source(booster) for booster in model.estimators_]
    size = len(sources)
    link = SortedLink(size) if size > 1 else IdentityLink()
    return replace(
        sources[0],
        estimator=type(model).__name__,
        loss=", ".join(source.loss for source in sources),
        ensemble=concatenate_outputs([source.ensemble for source in sources]),
        link=link,
        raw=lambda X: np.hstack([source.raw(X) for source in sources]),
        response=link.inverse,
        feature_names=names_of(model),
    )


@export_source.register
def _(model: ConformalRegressor) -> ExportSource:
    check_is_fitted(model)
    require_own_predictions(model, ConformalRegressor)
    source = export_source(model.estimator_)
    if source.classes is not None:
        raise TypeError(f"the estimator of a ConformalRegressor must be a regressor, got {source.estimator}")
    size, columns = source.width, source.link
    interval = ExtraOutput(
        "interval",
        IntervalLink(columns, size, model.margin_),
        lambda raw: model.add_margin(source.response(raw)),
        2,
    )
    return replace(
        source,
        estimator=f"{type(model).__name__}({source.estimator})",
        link=columns if size == 1 else MedianLink(columns, size),
        response=lambda raw: np.median(source.response(raw), axis=1, keepdims=True),
        extras=(*source.extras, interval),
    )
