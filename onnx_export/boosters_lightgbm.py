"""Tree models of LightGBM itself, read into the same ensembles."""

from __future__ import annotations

from typing import Any

import numpy as np
from lightgbm import Booster, LGBMModel
from sklearn.utils.validation import check_is_fitted

from rffboost_ext import Ensemble
from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop.lightgbm_model import parsed
from rffboost_ext.interop.links import LIGHTGBM

from .links import Link, Sigmoid, Softmax, as_predicted, checked_link, evaluate, responses
from .source import Source, names_of, read

OBJECTIVES = responses(LIGHTGBM)
"""The link of each LightGBM objective."""


@read.register
def _(model: LGBMModel) -> Source:
    check_is_fitted(model)
    ensemble, classes = rlgb.to_ensemble(model), getattr(model, "classes_", None)
    if classes is not None and len(classes) < 2:
        raise ValueError(f"a classifier must know 2 classes to be exported, got {classes.tolist()}")
    if isinstance(model, rlgb.LGBMClassifier | rlgb.LGBMRegressor):
        loss = model.loss_
        facts: dict[str, Any] = {
            "loss": repr(loss),
            "link": checked_link(loss, ensemble.n_outputs),
            "response": loss.inverse_link,
        }
    else:
        facts = facts_of(model.booster_)
        own = as_predicted(facts["link"], classes is not None, facts["loss"], type(model).__name__)
        facts |= responding(own)
    return source(model, ensemble, model.n_features_in_, classes=classes, feature_names=names_of(model), **facts)


@read.register
def _(booster: Booster) -> Source:
    ensemble, facts = rlgb.to_ensemble(booster), facts_of(booster)
    sizes: dict[type, int] = {Sigmoid: 2, Softmax: ensemble.n_outputs}
    n_classes = sizes.get(type(facts["link"]))
    classes = None if n_classes is None else np.arange(n_classes)
    names = tuple(booster.feature_name())
    return source(booster, ensemble, booster.num_feature(), classes=classes, feature_names=names, **facts)


def facts_of(booster: Booster) -> dict[str, Any]:
    """Name, link and response of one of LightGBM's own objectives."""
    model = parsed(booster.model_to_string(num_iteration=1))
    kind = model.objective
    if kind not in OBJECTIVES or model.squares:
        raise ValueError(
            f"objective {model.header.get('objective', kind)!r} has no ONNX link here; supported: "
            f"{', '.join(sorted(OBJECTIVES))}. A callable belongs as a Loss into "
            f"LGBMClassifier or LGBMRegressor of "
            f"rffboost_ext.interop.lightgbm"
        )
    link = Sigmoid(model.slope) if kind == "binary" else OBJECTIVES[kind]
    return {"loss": kind} | responding(link)


def responding(link: Link) -> dict[str, Any]:
    """A link, and the same for arrays."""
    return {"link": link, "response": lambda scores: evaluate(link, scores)}


def source(model: Any, ensemble: Ensemble, n_features: int, **facts: Any) -> Source:
    """The source of a model; raw scores are the ensemble's, which averages the trees of a forest ("rf")."""
    return Source(
        estimator=type(model).__name__,
        ensemble=ensemble.compact(),
        n_features=n_features,
        raw=lambda X: ensemble.raw(np.asarray(X)),
        **facts,
    )
