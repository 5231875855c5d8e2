"""Export sources of tree models of XGBoost and LightGBM, trained with a Loss or with objectives of their own."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy.sparse import issparse
from sklearn.base import is_classifier

from rffboost_ext import Link
from rffboost_ext.exporting import (
    XGBOOST,
    Array,
    CategoryEncoding,
    HingeLink,
    HostModel,
    OneVsRestLink,
    RankingLink,
    as_columns,
    categorical_columns,
    is_table,
    native_table,
    raw_ensemble,
    read_model,
    read_table,
)
from rffboost_ext.losses import BinaryLogitLink, IdentityLink, LogitLink, MultinomialLogitLink

from .source import BY_PACKAGE, ExportSource, fields_of_loss

BY_LABEL = ("multi:softmax", "binary:hinge")
"""Objectives with which a regressor of XGBoost predicts labels."""


def host_source(model: Any) -> ExportSource:
    """The source of a Booster or of an estimator that has one."""
    host = read_model(model)
    ensemble, encoding = host.encoded(raw_ensemble(model, host))
    is_xgboost = type(host.booster).__module__.startswith("xgboost")
    has_own_loss = hasattr(model, "loss_")
    # Our estimators and LightGBM take absent entries of a sparse matrix for 0.
    absent_is_missing = is_xgboost and not has_own_loss
    scores = (xgboost_scores if is_xgboost else lightgbm_scores)(host, encoding)
    to_raw = model.score_conversion().raw if has_own_loss else as_columns
    fields = fields_of_own_loss(model) if has_own_loss else fields_of_objective(model, host)
    return ExportSource(
        estimator=type(model).__name__,
        ensemble=ensemble.compact(),
        n_features=host.n_features,
        raw=lambda X: to_raw(scores(X.toarray() if issparse(X) and not absent_is_missing else X)),
        feature_names=() if host.names is None else tuple(map(str, host.names)),
        eps=float(np.finfo(np.float32 if is_xgboost else np.float64).eps),
        encoding=encoding,
        absent_is_missing=absent_is_missing,
        **fields,
    )


BY_PACKAGE |= dict.fromkeys(("xgboost", "lightgbm"), host_source)


def fields_of_own_loss(model: Any) -> dict[str, Any]:
    """The fields of a source that a model has from the Loss that it was trained with."""
    n_outputs, uses_offset = len(model.baseline_), getattr(model, "uses_base_margin_", False)
    if uses_offset and model.score_conversion().slope != 1.0:
        raise ValueError(
            f"a model that was fitted with base_margin cannot be exported with loss {model.loss_!r}: its raw "
            f"scores have other units than XGBoost's"
        )
    classes = np.arange(n_outputs) if model.loss_.multilabel else getattr(model, "classes_", None)
    offsets = {"n_offsets": n_outputs if uses_offset else 0}
    return fields_of_loss(model.loss_, n_outputs) | offsets | {"classes": classes}


def fields_of_objective(model: Any, host: HostModel) -> dict[str, Any]:
    """The fields of a source that a model has from an objective of the host."""
    name, n_outputs, is_booster = host.objective.split()[0], host.ensemble.n_outputs, model is host.booster
    # A Booster that records one of XGBoost's objectives is exported with it.
    link = host.link or (XGBOOST.get(name) if is_booster else None)
    if link is None:
        raise ValueError(
            "objective must be one of the library's own, got a callable, whose link is unknown: give it as a Loss "
            "to the estimators of rffboost_ext.interop"
        )
    if isinstance(link, RankingLink):
        # A ranking model predicts its raw scores.
        link = IdentityLink()
    if not is_booster:
        link = estimator_link(link, is_classifier(model), name, type(model).__name__)
    if isinstance(link, BinaryLogitLink) and n_outputs > 1:
        raise ValueError(f"objective {name!r} of {n_outputs} labels per row has no ONNX form here")
    n_classes = n_classes_of(link, n_outputs) if is_booster or is_classifier(model) else None
    classes = host.classes if host.classes is not None or n_classes is None else np.arange(n_classes)
    if classes is not None and len(classes) < 2:
        raise ValueError(f"a classifier must have at least 2 classes to be exported, got {classes.tolist()}")
    return {"loss": name, "link": link, "response": link.inverse, "classes": classes}


def n_classes_of(link: Link, n_outputs: int) -> int | None:
    """The number of classes whose probabilities are the response; None for means."""
    if isinstance(link, BinaryLogitLink | HingeLink):
        return 2
    return n_outputs if isinstance(link, MultinomialLogitLink | OneVsRestLink) else None


def estimator_link(link: Link, of_classifier: bool, objective: str, owner: str) -> Link:
    """The link with which an estimator of a host predicts: its class matters more than its objective and its link.

    A ValueError, which names the objective and the owner, if there is none: a classifier of means, which compares
    them with a half, a regressor of labels, or a classifier that compares raw scores with a half.
    """
    if of_classifier and isinstance(link, LogitLink):
        return BinaryLogitLink(link.slope)
    if not of_classifier and isinstance(link, BinaryLogitLink):
        return IdentityLink() if objective == "binary:logitraw" else LogitLink(link.slope)
    of_classes = n_classes_of(link, 1) is not None
    is_mixed = of_classifier != of_classes and (of_classifier or objective in BY_LABEL)
    if is_mixed or objective == "binary:logitraw":
        other = "regressor" if of_classifier else "classifier"
        raise ValueError(
            f"objective {objective!r} of a {owner} has no ONNX form here: it is for a {other}; fit a {other}, or "
            f"export the Booster"
        )
    return link


def xgboost_scores(host: HostModel, encoding: CategoryEncoding | None) -> Callable[[Any], Array]:
    """XGBoost's own scores as a function of X."""
    from xgboost import DMatrix

    categories = host.read_categories()
    rounds = {"iteration_range": (0, len(host.ensemble)), "validate_features": False, "output_margin": True}
    kinds = ["q" if entry is None else "c" for entry in categories]

    def matrix(X: Any) -> Any:
        if encoding is None:
            return DMatrix(X if issparse(X) else np.asarray(X))
        X = read_table(X)
        if is_table(X) and set(encoding.coded) <= set(categorical_columns(X)):
            return DMatrix(native_table(X), enable_categorical=True)
        return DMatrix(host_codes(X, categories, encoding), feature_types=kinds, enable_categorical=True)

    return lambda X: host.booster.predict(matrix(X), **rounds)


def lightgbm_scores(host: HostModel, encoding: CategoryEncoding | None) -> Callable[[Any], Array]:
    """LightGBM's own scores as a function of X."""
    categories = host.read_categories()
    # The raw scores of a random forest are sums; its predictions use their mean.
    n_rounds = len(host.ensemble) if host.averages else 1
    return lambda X: host.booster.predict(host_codes(X, categories, encoding), raw_score=True) / n_rounds


def host_codes(X: Any, categories: Sequence[Array | None], encoding: CategoryEncoding | None) -> Array:
    """X as numbers, with a host's codes in place of categories, which are in the order of these codes."""
    if encoding is None:
        return np.asarray(X)
    codes = encoding.transform(X)[0]
    for j, entry in enumerate(categories):
        if entry is not None:
            # Our codes follow the sorted categories.
            order, is_code = np.argsort(entry), np.isfinite(codes[:, j])
            codes[is_code, j] = order[codes[is_code, j].astype(int)]
    return codes
