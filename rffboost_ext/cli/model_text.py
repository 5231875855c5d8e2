"""What a fitted model is, in words."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier

from ..estimators.classifier import RFFBoostClassifier
from ..estimators.parameters import part_of
from ..estimators.quantile import RFFBoostQuantileRegressor
from ..estimators.ranker import RFFBoostRanker
from ..estimators.survival import RFFBoostSurvival
from ..losses.registry import LOSSES
from ..rows.category_encoding import category_lists
from ..sources.prediction import kind_of_score

# Names and categories that one line shows.
MOST = 5
SCORES = {
    RFFBoostClassifier: "accuracy",
    RFFBoostRanker: "NDCG",
    RFFBoostSurvival: "concordance",
    RFFBoostQuantileRegressor: "D2",
}


def abridged(names: Any) -> str:
    """The first of some names."""
    shown = list(map(str, names))
    return ", ".join(shown[:MOST]) + (", ..." if len(shown) > MOST else "")


def booster_of(model: Any) -> Any:
    """The booster in a conformal regressor, or the model itself."""
    return getattr(model, "estimator_", model)


def feature_kinds(model: Any) -> dict[str, list[Any] | None]:
    """The categories of each feature by its name, or by its number if there are no names; None for numbers."""
    names = getattr(model, "feature_names_in_", range(model.n_features_in_))
    levels = category_lists(booster_of(model).encoder_.categories) or [None] * model.n_features_in_
    return {str(name): entry for name, entry in zip(names, levels, strict=True)}


def columns_text(model: Any) -> str:
    """How many features are numbers, and which are categories."""
    kinds = feature_kinds(model)
    coded = [name for name, levels in kinds.items() if levels is not None]
    n_numbers = len(kinds) - len(coded)
    numbers = f"{n_numbers} number" + "s" * (n_numbers != 1)
    categories = f"{len(coded)} categor{'y' if len(coded) == 1 else 'ies'} ({abridged(coded)})"
    return f"{numbers}, {categories}" if coded else numbers


def target_text(model: Any, target: str) -> str:
    """What a target holds."""
    if not is_classifier(model):
        return f"target {target}: numbers"
    kind = "labels" if model.loss_.multilabel else "classes"
    return f"target {target}: {len(model.classes_)} {kind} ({abridged(model.classes_.tolist())})"


def loss_name(model: Any) -> str:
    """The name of the loss of a model."""
    booster = booster_of(model)
    # A distribution has no such parameter.
    loss = part_of(booster, "loss") if hasattr(booster, "loss") else booster.loss_
    return loss if isinstance(loss, str) else LOSSES.name_of(loss)


def rows_text(n_used: int, n_rows: int) -> str:
    """The number of rows, and how many of them are used if it is a sample."""
    return f"{n_rows:,} rows" if n_used == n_rows else f"{n_used:,} of {n_rows:,} rows"


def scores_text(model: Any, score: float, loss: float) -> str:
    """The score of a model by its name, unless it is minus the mean loss, and the mean loss."""
    default = "R2" if kind_of_score(model) == "r2" else None
    name = next((name for kind, name in SCORES.items() if isinstance(model, kind)), default)
    return f"{'' if name is None else f'{name} {score:.4g}, '}{loss_name(model)} {loss:.4g}"
