"""Export sources of LightGBM's own tree models."""

from __future__ import annotations

from typing import Any

import numpy as np
from lightgbm import Booster, LGBMModel
from sklearn.utils.validation import check_is_fitted

from rffboost_ext import Ensemble, Link
from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop.lightgbm_model import parse_model
from rffboost_ext.interop.links import LIGHTGBM
from rffboost_ext.losses import BinaryLogitLink

from .host_links import estimator_link, n_classes_of, prediction_links
from .links import checked_link
from .source import ExportSource, export_source, names_of

OBJECTIVES = prediction_links(LIGHTGBM)
"""The link of each LightGBM objective."""


@export_source.register
def _(model: LGBMModel) -> ExportSource:
    check_is_fitted(model)
    ensemble, classes = rlgb.to_ensemble(model), getattr(model, "classes_", None)
    if classes is not None and len(classes) < 2:
        raise ValueError(f"a classifier must have at least 2 classes to be exported, got {classes.tolist()}")
    if isinstance(model, rlgb.LGBMClassifier | rlgb.LGBMRegressor):
        name, link = repr(model.loss_), checked_link(model.loss_, ensemble.n_outputs)
        response = model.loss_.inverse_link
    else:
        name, link = objective_link(model.booster_)
        link = estimator_link(link, classes is not None, name, type(model).__name__)
        response = link.inverse
    facts = {"loss": name, "link": link, "response": response, "classes": classes}
    return lightgbm_source(model, ensemble, model.n_features_in_, feature_names=names_of(model), **facts)


@export_source.register
def _(booster: Booster) -> ExportSource:
    ensemble, (name, link) = rlgb.to_ensemble(booster), objective_link(booster)
    n_classes = n_classes_of(link, ensemble.n_outputs)
    classes = None if n_classes is None else np.arange(n_classes)
    facts = {"loss": name, "link": link, "response": link.inverse, "classes": classes}
    return lightgbm_source(
        booster, ensemble, booster.num_feature(), feature_names=tuple(booster.feature_name()), **facts
    )


def objective_link(booster: Booster) -> tuple[str, Link]:
    """Name and link of one of LightGBM's own objectives."""
    model = parse_model(booster.model_to_string(num_iteration=1))
    kind = model.objective
    if kind not in OBJECTIVES or model.squares:
        raise ValueError(
            f"objective {model.header.get('objective', kind)!r} has no ONNX link here; supported: "
            f"{', '.join(sorted(OBJECTIVES))}. Give a callable as a Loss to LGBMClassifier or LGBMRegressor of "
            f"rffboost_ext.interop.lightgbm"
        )
    return kind, BinaryLogitLink(model.slope) if kind == "binary" else OBJECTIVES[kind]


def lightgbm_source(model: Any, ensemble: Ensemble, n_features: int, **facts: Any) -> ExportSource:
    """The source of a model; raw scores are the ensemble's, which averages the trees of a forest ("rf")."""
    return ExportSource(
        estimator=type(model).__name__,
        ensemble=ensemble.compact(),
        n_features=n_features,
        raw=lambda X: ensemble.raw(np.asarray(X)),
        **facts,
    )
