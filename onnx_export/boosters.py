"""Tree models of XGBoost itself, read into the same ensembles."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted
from xgboost import Booster, DMatrix, XGBModel

from rffboost_ext import Ensemble, Trees
from rffboost_ext.core import Array
from rffboost_ext.learners.tree import read_tree

from .links import Exp, Identity, Link, Logistic, Sigmoid, Softmax, evaluate
from .source import Source, names_of, read


@dataclass(frozen=True)
class Objective:
    """What an objective of XGBoost says about raw scores.

    Attributes
    ----------
    link : Link
        From raw scores to what ``predict`` or ``predict_proba`` gives.
    margin : callable
        From ``base_score``, as stored, to raw scores.
    """

    link: Link
    margin: Callable[[Array], Array] = np.asarray


def logit(p: Array) -> Array:
    """The log-odds of p."""
    return np.asarray(np.log(p) - np.log1p(-p))


OBJECTIVES = {
    "binary:logistic": Objective(Sigmoid(), logit),
    "binary:logitraw": Objective(Sigmoid()),
    "multi:softprob": Objective(Softmax()),
    "multi:softmax": Objective(Softmax()),
    "reg:logistic": Objective(Logistic(), logit),
    "count:poisson": Objective(Exp(), np.log),
    "reg:gamma": Objective(Exp(), np.log),
    "reg:tweedie": Objective(Exp(), np.log),
    **{
        name: Objective(Identity())
        for name in (
            "reg:squarederror",
            "reg:absoluteerror",
            "reg:pseudohubererror",
            "reg:quantileerror",
            "rank:pairwise",
            "rank:ndcg",
            "rank:map",
        )
    },
}


@read.register
def _(model: XGBModel) -> Source:
    check_is_fitted(model)
    if callable(model.objective):
        raise ValueError(
            f"objective must be one of XGBoost's own, got {model.objective!r}: the model does not tell which link "
            f"a callable means. Put it as a Loss into RFFBoostClassifier or RFFBoostRegressor with learner='tree'"
        )
    if not np.isnan(model.missing):
        raise ValueError(f"missing must be NaN for export, got {model.missing!r}: ONNX trees know no other")
    best = getattr(model, "best_iteration", None) if model.early_stopping_rounds else None
    booster = model.get_booster()
    return source_of(booster if best is None else booster[: best + 1], type(model).__name__, names_of(model))


@read.register
def _(booster: Booster) -> Source:
    return source_of(booster, "Booster", tuple(booster.feature_names or ()))


def source_of(booster: Booster, name: str, feature_names: tuple[str, ...]) -> Source:
    """The source of a booster of scalar trees."""
    learner = json.loads(booster.save_raw("json"))["learner"]
    kind = learner["objective"]["name"]
    if kind not in OBJECTIVES:
        raise ValueError(f"objective {kind!r} has no ONNX link here; supported: {', '.join(sorted(OBJECTIVES))}")
    objective = OBJECTIVES[kind]
    ensemble = ensemble_of(learner, objective)
    n_features = booster.num_features()

    def raw(X: Any) -> Array:
        out = booster.predict(DMatrix(np.asarray(X)), output_margin=True, validate_features=False)
        return np.asarray(out.reshape(len(X), -1), dtype=np.float64)

    check_baseline(ensemble, raw, n_features)
    n_classes = {Sigmoid: 2, Softmax: ensemble.n_outputs}.get(type(objective.link))
    return Source(
        estimator=name,
        loss=kind,
        ensemble=ensemble,
        link=objective.link,
        n_features=n_features,
        raw=raw,
        response=lambda scores: evaluate(objective.link, scores),
        classes=None if n_classes is None else np.arange(n_classes),
        feature_names=feature_names,
        eps=float(np.finfo(np.float32).eps),
    )


def ensemble_of(learner: dict[str, Any], objective: Objective) -> Ensemble:
    """The trees of XGBoost's JSON format, and its base score as the baseline."""
    booster, params = learner["gradient_booster"], learner["learner_model_param"]
    if booster["name"] != "gbtree":
        raise ValueError(f"booster must be 'gbtree' for export, got {booster['name']!r}")
    trees = booster["model"]["trees"]
    if any(any(tree["split_type"]) for tree in trees):
        raise ValueError("the XGBoost model splits on categorical features, which ONNX trees cannot express")
    if any(int(tree["tree_param"]["size_leaf_vector"]) > 1 for tree in trees):
        raise ValueError("multi_strategy must be 'one_output_per_tree' for export, got trees with vector leaves")
    n_outputs = max(1, int(params["num_class"]), int(params["num_target"]))
    groups = booster["model"]["tree_info"]
    terms = tuple(read_tree(tree, group, n_outputs) for tree, group in zip(trees, groups, strict=True))
    baseline = np.broadcast_to(objective.margin(base_score(params["base_score"])), n_outputs)
    whole = (Trees.stack(terms),) if terms else ()
    return Ensemble(np.array(baseline), whole, np.ones((len(whole), 2)))


def base_score(text: str) -> Array:
    """``"5E-1"``, ``"[5E-1]"`` or ``"[1E0,2E0]"``: the spellings of XGBoost's versions."""
    return np.array([float(part) for part in text.strip("[] ").split(",")])


def check_baseline(ensemble: Ensemble, raw: Callable[[Any], Array], n_features: int) -> None:
    """Raise unless XGBoost itself gives the same raw score for one row, so that no base score is misread."""
    row = np.zeros((1, n_features))
    found, wanted = ensemble.raw(row), raw(row)
    if not np.allclose(found, wanted, rtol=1e-4, atol=1e-4):
        raise ValueError(f"the XGBoost model could not be read: it gives {wanted} where its trees sum to {found}")
