"""Export sources of LightGBM's own tree models."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from lightgbm import Booster, LGBMModel
from sklearn.utils.validation import check_is_fitted

from rffboost_ext import Link
from rffboost_ext.exporting import Array, RankingLink, as_columns, read_model, sorted_codes
from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.losses import IdentityLink

from .host_links import estimator_link, host_codes, n_classes_of
from .source import ExportSource, export_source, fields_of_loss, names_of


@export_source.register
def _(model: LGBMModel) -> ExportSource:
    check_is_fitted(model)
    classes, booster = getattr(model, "classes_", None), model.booster_
    if classes is not None and len(classes) < 2:
        raise ValueError(f"a classifier must have at least 2 classes to be exported, got {classes.tolist()}")
    facts = {"classes": classes, "feature_names": names_of(model)}
    if isinstance(model, rlgb.LGBMClassifier | rlgb.LGBMRegressor):
        facts |= fields_of_loss(model.loss_, booster.num_model_per_iteration())
        return lightgbm_source(model, model.score_conversion().raw, **facts)
    name, link = objective_link(booster)
    link = estimator_link(link, classes is not None, name, type(model).__name__)
    return lightgbm_source(model, as_columns, loss=name, link=link, response=link.inverse, **facts)


@export_source.register
def _(booster: Booster) -> ExportSource:
    name, link = objective_link(booster)
    n_classes = n_classes_of(link, booster.num_model_per_iteration())
    facts = {"loss": name, "link": link, "response": link.inverse, "feature_names": tuple(booster.feature_name())}
    return lightgbm_source(
        booster, as_columns, classes=None if n_classes is None else np.arange(n_classes), **facts
    )


def objective_link(booster: Booster) -> tuple[str, Link]:
    """Name and link of one of LightGBM's own objectives."""
    found = read_model(booster, n_rounds=1)
    if found.link is None:
        raise ValueError(
            "objective must be one of LightGBM's own, got a callable, whose link is unknown: give it as a Loss to "
            "LGBMClassifier or LGBMRegressor of rffboost_ext.interop.lightgbm"
        )
    return found.objective.split()[0], IdentityLink() if isinstance(found.link, RankingLink) else found.link


def lightgbm_source(model: Any, to_raw: Callable[[Array], Array], **facts: Any) -> ExportSource:
    """The source of a model; `to_raw` maps LightGBM's scores to raw scores."""
    found = read_model(model)
    booster, known = found.booster, found.read_categories()
    # The raw scores of a random forest are sums; its predictions use their mean.
    n_rounds = len(found.ensemble) if found.averages else 1
    ensemble, encoding = sorted_codes(rlgb.to_ensemble(model), known)
    return ExportSource(
        estimator=type(model).__name__,
        ensemble=ensemble.compact(),
        n_features=booster.num_feature(),
        raw=lambda X: to_raw(booster.predict(host_codes(X, known, encoding), raw_score=True) / n_rounds),
        encoding=encoding,
        **facts,
    )
