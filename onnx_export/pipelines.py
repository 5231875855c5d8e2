"""Export sources of pipelines, and of searches over them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.model_selection._search import BaseSearchCV
from sklearn.pipeline import Pipeline
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from .scaling import Scaling, split_scaling
from .source import ExportSource, export_source, names_of
from .sparse_steps import outputs_sparse


@export_source.register
def _(pipeline: Pipeline) -> ExportSource:
    check_is_fitted(pipeline)
    source = export_source(pipeline[-1])
    before = pipeline[:-1]
    steps = [(name, step) for name, step in before.steps if step is not None and step != "passthrough"]
    if not steps:
        return source
    if source.encoding is not None:
        raise ValueError(
            "an estimator with categorical columns cannot be exported behind other steps: export it by itself, or "
            "encode the categories in a step"
        )
    inner = [] if source.steps is None else list(source.steps.steps)
    is_sparse = outputs_sparse(Pipeline([*steps, *inner]))
    scaling: Scaling = ()
    if not inner:
        # Zeros that a ColumnTransformer leaves out of a sparse matrix are zeros after its scalers.
        steps, scaling = split_scaling(steps)
    # Names of the steps of a nested pipeline may equal others.
    steps = [(f"{k}_{name}", step) for k, (name, step) in enumerate([*steps, *inner])]
    width = source.n_step_columns if inner else source.n_features
    absent = np.zeros(width or 0) if is_sparse and source.absent_is_missing else None
    has_missing = absent is not None or all(takes_missing(step) for _, step in steps)
    return replace(
        source,
        estimator=f"Pipeline({', '.join(type(step).__name__ for _, step in pipeline.steps)})",
        n_features=getattr(pipeline, "n_features_in_", 1),
        feature_names=names_of(pipeline),
        steps=Pipeline(steps) if steps else None,
        n_step_columns=width,
        takes_texts=not hasattr(pipeline, "n_features_in_"),
        missing_columns=source.missing_columns if has_missing else (),
        raw=lambda X: source.raw(before.transform(X)),
        scaling=(*scaling, *source.scaling),
        absent=absent,
    )


def takes_missing(step: Any) -> bool:
    """Whether a step takes missing values, as far as its tags say; those of steps of several parts say nothing."""
    is_composite = hasattr(step, "transformers") or hasattr(step, "transformer_list")
    return is_composite or bool(get_tags(step).input_tags.allow_nan)


@export_source.register
def _(search: BaseSearchCV) -> ExportSource:
    check_is_fitted(search)
    if not hasattr(search, "best_estimator_"):
        raise ValueError(f"{type(search).__name__}: refit must be true to be exported, got {search.refit!r}")
    return export_source(search.best_estimator_)
