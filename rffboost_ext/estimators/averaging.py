"""Average of fitted estimators, as one estimator."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from typing import Any, TypeVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..losses.wrapper import mean_loss
from ..rows.category_encoding import (
    CategoryEncoding,
    category_kinds,
    category_lists,
    joint_encoding,
    recoding_of,
)
from ..rows.feature_encoder import FeatureEncoder
from ..terms.ensemble import mean_ensemble
from ..utils.registry import full_repr
from .base import BaseRFFBoost
from .planning import compose

E = TypeVar("E", bound=BaseRFFBoost)
KINDS = "models must be fitted estimators of one kind, ConformalRegressor excluded"


def average(models: Iterable[E]) -> E:
    """One model whose raw scores are the mean of the raw scores of several, such as of different seeds or folds.

    Parameters
    ----------
    models : iterable of fitted estimators
        Models of one kind other than ConformalRegressor, with the same classes, loss and features.
        Their categories may differ, as between folds: a category that is unknown to a model counts as missing in
        it.

    Returns
    -------
    estimator
        A new model with the parameters of the first; it predicts, is saved and is exported like any other.
        What losses estimated from targets, such as the scale of accelerated failure times, is averaged.

    Raises
    ------
    TypeError
        If one of `models` is another estimator, or of another kind than the first.
    ValueError
        If `models` is empty, or classes, losses, features or kinds of categories differ, or parameters that a
        user's own loss fitted.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from rffboost_ext import RFFBoostClassifier, average
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = average(RFFBoostClassifier(n_estimators=20, random_state=seed).fit(X, y) for seed in range(3))
    >>> bool(model.score(X, y) > 0.9)
    True
    """
    if not isinstance(models, Iterable):
        raise TypeError(f"average: models must be an iterable of fitted estimators, got {models!r}")
    models = list(models)
    if not models:
        raise ValueError("average: models must hold at least one model, got none")
    for model in models:
        require_same_kind(models[0], model)
    shares = [getattr(model, "feature_importances_", None) for model in models]
    present = [share for share in shares if share is not None]
    importances = np.mean(present, axis=0) if len(present) == len(models) else None
    models = recode_to_joint_categories(models)
    encoder = joint_encoder([model.encoder_ for model in models])
    result = models[0].with_ensemble(mean_ensemble([model.ensemble_ for model in models]), importances, encoder)
    result.loss_ = mean_loss([model.loss_ for model in models])
    result.average_fitted(models)
    # The models may share rows.
    result.__dict__.pop("n_rows_seen_", None)
    return result


def joint_encoder(encoders: Sequence[FeatureEncoder]) -> FeatureEncoder:
    """The encoder of an average: missing values are allowed only in columns where every model can handle them."""
    joint = copy(encoders[0])
    missing = [encoder.missing_columns for encoder in encoders if encoder.missing_columns is not None]
    joint.missing_columns = np.logical_and.reduce(missing) if len(missing) == len(encoders) else None
    joint.imputes_missing = all(encoder.imputes_missing for encoder in encoders)
    return joint


def recode_to_joint_categories(models: Sequence[E]) -> list[E]:
    """Fitted models with the union of their categories; the same models if all have the same categories."""
    by_model = [model.encoder_.categories for model in models]
    encodings = [one for one in by_model if one is not None]
    if all(category_lists(one) == category_lists(encodings[0]) for one in encodings):
        return list(models)
    joint = joint_encoding(encodings)
    return [recode_model(model, joint) for model in models]


def recode_model(model: E, categories: CategoryEncoding) -> E:
    """A fitted model in the codes of another encoding, which includes its own."""
    encoder = copy(model.encoder_)
    assert encoder.categories is not None
    assert encoder.expansion is not None
    recoding = recoding_of(encoder.categories, categories)
    encoder.categories, encoder.expansion = categories, encoder.expansion.recoded(recoding)
    importances = getattr(model, "feature_importances_", None)
    return model.with_ensemble(model.ensemble_.recoded(recoding), importances, encoder)


def require_same_kind(first: BaseRFFBoost, other: BaseRFFBoost) -> None:
    """Raise unless two fitted models can be averaged."""
    if not isinstance(other, BaseRFFBoost) or type(other) is not type(first):
        raise TypeError(f"average: {KINDS}, got {other!r} beside {first!r}")
    check_is_fitted(other)
    losses = [full_repr(compose(model).loss) for model in (first, other)]
    if full_repr(first.loss_) == full_repr(other.loss_):
        losses = []
    facts: dict[str, list[Any]] = {
        "losses": losses,
        "classes": [np.asarray(getattr(model, "classes_", ())).tolist() for model in (first, other)],
        "numbers of features": [model.n_features_in_ for model in (first, other)],
        "names of features": [list(getattr(model, "feature_names_in_", ())) for model in (first, other)],
        "kinds of categories": [category_kinds(model.encoder_.categories) for model in (first, other)],
        "uses of base_margin": [model.uses_base_margin_ for model in (first, other)],
        "numbers of outputs": [model.ensemble_.n_outputs for model in (first, other)],
    }
    for name, pair in facts.items():
        if pair and pair[0] != pair[1]:
            raise ValueError(f"average: the {name} of models must agree, got {pair[0]} and {pair[1]}")
