"""The adapter of XGBoost: models, initial scores as its ``base_score``, and losses as text in its models."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeAlias

import numpy as np
from xgboost import Booster, DMatrix, QuantileDMatrix, XGBModel

from ..core import Link, Loss, Term
from ..learners.trees.xgboost_model import (
    count_outputs,
    model_categories,
    parse_base_score,
    parse_model,
    read_rounds,
    single,
)
from ..losses.links import LogitLink, sigmoid
from ..losses.registry import LOSSES
from ..persistence.values import Packer, Unpacker
from ..terms import ClipAndLog, Linear
from ..terms.ensemble import Ensemble
from ..utils.registry import qualified_name
from ..utils.typing import Array
from .host import Host, HostModel
from .links import XGBOOST
from .score_conversion import has_score_for_each_class

BY_CALLABLE = "reg:squarederror"
"""The objective that a booster names after a training with a callable."""


class XGBoostHost(Host):
    """XGBoost: ``DMatrix``, ``Booster`` and ``XGBModel``."""

    name, slicing, metric_direction = "XGBoost", "slice", ()
    unset_score, stores_start = 0.5, True
    estimator, booster = XGBModel, Booster
    score_argument, continued = "output_margin", "xgb_model"
    # max_delta_step is missing because trees read it too.
    replaced_params = (
        *("objective", "base_score", "scale_pos_weight", "quantile_alpha", "huber_slope", "expectile_alpha"),
        *("tweedie_variance_power", "aft_loss_distribution", "aft_loss_distribution_scale", "ndcg_exp_gain"),
        *("lambdarank_num_pair_per_sample", "lambdarank_bias_norm", "lambdarank_normalization"),
        *("lambdarank_score_normalization", "lambdarank_unbiased", "lambdarank_pair_method"),
    )
    ranking_metrics = ("auc", "aucpr")
    features_advice = (
        "XGBoost does not return the features of a QuantileDMatrix, and categorical columns are no numbers: pass "
        "numbers by attach(matrix, X) before training, or train on a DMatrix of numbers"
    )

    def labels(self, matrix: DMatrix) -> Array | None:
        labels = matrix.get_label()
        if len(labels):
            return labels
        bounds = [matrix.get_float_info(f"label_{side}_bound") for side in ("lower", "upper")]
        return np.column_stack(bounds) if all(map(len, bounds)) else None

    def weights(self, matrix: DMatrix) -> Array | None:
        weight, codes = matrix.get_weight(), self.queries(matrix)
        # A matrix of queries has a weight for each query.
        return weight[codes] if codes is not None and len(weight) == codes[-1] + 1 else weight

    def queries(self, matrix: DMatrix) -> Array | None:
        sizes = np.diff(matrix.get_uint_info("group_ptr").astype(np.int64))
        return np.repeat(np.arange(len(sizes)), sizes) if len(sizes) else None

    def features(self, matrix: DMatrix) -> Array | None:
        returned = not isinstance(matrix, QuantileDMatrix) and "c" not in (matrix.feature_types or ())
        return dense_with_nan(matrix.get_data()) if returned else None

    def start(self, loss: Loss, baseline: Array, matrices: Sequence[DMatrix]) -> dict[str, Any]:
        start = base_score_of(baseline, BY_CALLABLE)
        params = {"base_score": start, "disable_default_eval_metric": True}
        if has_score_for_each_class(loss, baseline):
            return params | {"num_class": len(baseline), "objective": "multi:softprob"}
        return params | ({"num_target": len(baseline)} if len(baseline) > 1 else {})

    def read(self, model: Any) -> HostModel:
        if isinstance(model, XGBModel) and not np.isnan(model.missing):
            raise ValueError(f"missing must be NaN, got {model.missing!r}: other missing values are not supported")
        booster = self.booster_of(model)
        learner = parse_model(booster)
        start, rounds = initial_score(learner), rounds_as_terms(learner)
        linear = learner["gradient_booster"]["name"] == "gblinear"
        if linear:
            # XGBoost adds the first of several initial scores to all.
            start = np.full_like(start, start[0])
        # As its own predict, a Booster uses all rounds, an estimator those up to the best.
        terms = tuple(rounds if model is booster else rounds[: best_round(booster, len(rounds))])
        ensemble, objective = Ensemble(start, terms, np.ones((len(terms), 2))), learner["objective"]["name"]
        link: Link | None = XGBOOST[objective]
        if objective == "binary:logistic" and ensemble.n_outputs > 1:
            # One log-odds for each label.
            link = LogitLink()
        if callable(getattr(model, "objective", None)) or (model is booster and objective == BY_CALLABLE):
            link = None
        return HostModel(
            booster=booster,
            ensemble=ensemble,
            objective=objective,
            link=link,
            n_features=booster.num_features(),
            names=names_of(booster),
            read_categories=partial(model_categories, learner),
            n_targets=int(learner["learner_model_param"]["num_target"]),
        )

    def rounds(self, booster: Booster, changed: Sequence[bool]) -> list[Term | None]:
        terms: list[Term | None] = list(read_rounds(parse_model(booster), kinds=("gbtree",)))
        return terms[: best_round(booster, len(terms))]


HOST = XGBoostHost()


def dense_with_nan(sparse: Any) -> Array:
    """A sparse matrix as an array, NaN for missing entries."""
    entries = sparse.tocoo()
    dense = np.full(entries.shape, np.nan)
    dense[entries.row, entries.col] = entries.data
    return dense


def rounds_as_terms(learner: dict[str, Any]) -> list[Term]:
    """The rounds of a parsed model as terms; one for all rounds of a linear model, of which the sum is stored."""
    if learner["gradient_booster"]["name"] != "gblinear":
        return list(read_rounds(learner))
    weights = single(learner["gradient_booster"]["model"]["weights"])
    by_feature = weights.reshape(-1, count_outputs(learner))
    n_features = len(by_feature) - 1
    # Missing values count as 0.
    imputing = ClipAndLog.only_imputing(np.zeros(n_features))
    return [Linear(np.arange(n_features), by_feature[:-1], by_feature[-1], clipping=imputing)]


def names_of(booster: Booster) -> Array | None:
    """Names of the columns; None if there are none or only column indices."""
    names = booster.feature_names
    are_names = names is not None and any(name != str(j) for j, name in enumerate(names))
    return np.array(names, dtype=object) if are_names else None


def best_round(booster: Booster, n_rounds: int) -> int:
    """Rounds up to the best after early stopping, else all."""
    best = booster.attr("best_iteration")
    return n_rounds if best is None else min(int(best) + 1, n_rounds)


def loss_to_text(loss: Loss) -> str:
    """A loss as JSON: its storable form and arrays, or its class and parameters if it cannot be stored."""
    packer = Packer()
    try:
        packed = packer.pack(loss, "loss")
    except TypeError:
        return json.dumps({"class": qualified_name(type(loss)), "params": repr(loss.get_params(deep=False))})
    return json.dumps([packed, [array.tolist() for array in packer.arrays]])


def loss_from_text(text: str, own: str | Loss) -> Loss:
    """The loss that :func:`loss_to_text` has stored; a ValueError unless it is registered or the reader's own."""
    own = LOSSES.create(own)
    if loss_to_text(own) == text:
        return own
    try:
        packed, arrays = json.loads(text)
        return LOSSES.create(Unpacker([np.asarray(array) for array in arrays]).unpack(packed))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"the model was trained with the loss {text}, which is not registered here; pass it as loss=... to "
            f"the constructor before load_model"
        ) from error


CLOSE = 0.01
"""Tolerance on an initial score, in log-odds."""
CLOSEST = 1e-6
"""XGBoost clips a base score that is a probability to this distance from 0 and 1."""


def logit(p: Array) -> Array:
    """The log-odds of p as XGBoost computes them: in float32, with p clipped to [1e-6, 1 - 1e-6]."""
    clipped = np.clip(p, CLOSEST, 1.0 - CLOSEST).astype(np.float32)
    return np.asarray(-np.log(np.float32(1.0) / clipped - np.float32(1.0)), dtype=np.float64)


Conversion: TypeAlias = Callable[[Array], Array]
UNCHANGED: tuple[Conversion, Conversion] = np.asarray, np.asarray
CONVERSIONS: dict[str, tuple[Conversion, Conversion]] = {
    **dict.fromkeys(("binary:logistic", "reg:logistic"), (logit, sigmoid)),
    **dict.fromkeys(
        ("count:poisson", "reg:gamma", "reg:tweedie", "survival:aft", "survival:cox"), (np.log, np.exp)
    ),
}
"""From XGBoost's stored ``base_score`` to a raw score, and the inverse, by objective; for others it is one."""


def is_representable(baseline: Array, objective: str) -> bool:
    """Whether XGBoost can store initial scores (C,) as a ``base_score``, in float32."""
    if objective not in CONVERSIONS:
        return True
    to_raw, to_stored = CONVERSIONS[objective]
    with np.errstate(all="ignore"):
        stored = to_stored(baseline).astype(np.float32)
        is_close = np.abs(to_raw(stored) - baseline) < CLOSE
    return bool((is_close & (stored >= np.finfo(np.float32).tiny)).all())


def base_score_of(baseline: Array, objective: str) -> Any:
    """The ``base_score`` for initial scores `baseline` (C,) with one of XGBoost's objectives."""
    _, to_stored = CONVERSIONS.get(objective, UNCHANGED)
    stored = to_stored(baseline)
    return float(stored[0]) if (stored == stored[0]).all() else [float(value) for value in stored]


def initial_score(learner: dict[str, Any]) -> Array:
    """The initial scores of a parsed model, (C,)."""
    objective, stored = learner["objective"]["name"], learner["learner_model_param"]["base_score"]
    if objective not in XGBOOST:
        supported = ", ".join(sorted(XGBOOST))
        raise ValueError(f"objective {objective!r} of XGBoost has no link here; supported: {supported}")
    to_raw, _ = CONVERSIONS.get(objective, UNCHANGED)
    return np.array(np.broadcast_to(to_raw(parse_base_score(stored)), count_outputs(learner)))
