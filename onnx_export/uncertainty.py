"""Conformal regressors: links on the response of the regressor."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from sklearn.utils.validation import check_is_fitted

from rffboost_ext import ConformalRegressor
from rffboost_ext.exporting import final_estimator

from .derived_links import IntervalLink, MedianLink, prediction_link
from .source import ExportSource, ExtraOutput, export_source, require_own_predictions


@export_source.register
def _(model: ConformalRegressor) -> ExportSource:
    check_is_fitted(model)
    require_own_predictions(model)
    source = export_source(model.estimator_)
    if source.classes is not None:
        raise TypeError(f"the estimator of a ConformalRegressor must be a regressor, got {source.estimator}")
    size, columns = source.width, source.link
    if size > 1 and model.reduced(source.response(source.ensemble.baseline[None])).shape[1] == 1:
        size, columns = 1, prediction_link(final_estimator(model.estimator_).loss_, source.ensemble.n_outputs)
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
        response=lambda raw: np.median(model.reduced(source.response(raw)), axis=1, keepdims=True),
        extras=(*source.extras, interval),
    )
