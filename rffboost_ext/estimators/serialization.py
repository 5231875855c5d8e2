"""The state of an estimator in a model file, and the estimator that is rebuilt from it."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator

from ..boosting.early_stopping.patience import Patience, PatienceLimit, TrainingCondition
from ..boosting.plan import Start
from ..core import Loss
from ..learners.stored_state import check_learner_state
from ..persistence.model_file import ModelFileMixin, is_unfitted, left_out
from ..persistence.values import storable
from ..rows.category_encoding import CategoryEncoding, category_lists
from ..rows.feature_encoder import FeatureEncoder
from ..terms import ImputeAndEncode
from ..terms.ensemble import Ensemble
from ..utils.param_validation import THREADS, parameter_defaults, require_all
from .base import BaseRFFBoost
from .classifier import RFFBoostClassifier
from .conformal import ConformalRegressor
from .distribution import RFFBoostDistribution
from .quantile import RFFBoostQuantileRegressor
from .ranker import RFFBoostRanker
from .recipe import MemberRule, Recipe
from .regressor import RFFBoostRegressor
from .survival import RFFBoostSurvival

ENCODER = "n_features_in_", "feature_names_in_", "categories", "missing_columns", "imputes_missing", "expansion"
"""The fitted attributes of an encoder."""


def estimator_state(model: Any) -> dict[str, Any]:
    """Parameters and fitted state."""
    params = in_plain_collections(model.get_params(deep=False))
    fitted = {name: value for name, value in model.__getstate__().items() if name not in params}
    defaults = parameter_defaults(type(model).__init__)
    return {"params": params | {name: defaults[name] for name in left_out(params)}, "fitted": fitted}


def in_plain_collections(params: dict[str, Any]) -> dict[str, Any]:
    """Parameters with lists and dicts in the place of sequences and mappings whose types a file need not know."""
    columns, weights = params.get("categorical_features"), params.get("class_weight")
    plain: dict[str, Any] = {}
    if not (columns is None or isinstance(columns, str | list | tuple)):
        # As the fit reads them: a range, an array, an index or a column of pandas.
        plain["categorical_features"] = np.asarray(columns).tolist()
    if isinstance(weights, Mapping):
        plain["class_weight"] = dict(weights)
    return params | plain


def booster_state(model: BaseRFFBoost) -> dict[str, Any]:
    """Parameters and fitted state; a TypeError names a column whose categories cannot be stored."""
    state = estimator_state(model)
    fitted = state["fitted"]
    if not fitted:
        return state
    encoder = fitted["encoder_"]
    for column, levels in enumerate(category_lists(encoder.categories)):
        odd = [value for value in levels or () if not isinstance(value, str | bytes | int | float)]
        if odd:
            raise TypeError(
                f"{type(model).__name__}: {encoder.column_name(column)} has categories of type "
                f"{type(odd[0]).__name__}, which a model file cannot hold: make text or numbers of them before fit"
            )
    # A file holds no training rows.
    fitted.pop("_sample", None)
    if (shares := model._importances_if_any()) is not None:
        fitted["_importances"] = shares
    return state


def with_fitted(model: Any, fitted: Mapping[str, Any], wrong: list[str]) -> Any:
    """The model with its fitted state; a ValueError if an attribute is `wrong`, or has the name of a method."""
    wrong = wrong + [name for name in fitted if callable(getattr(type(model), name, None))]
    if wrong:
        raise ValueError(f"holds a {type(model).__name__} whose {wrong[0]} cannot be")
    model.__dict__.update(fitted)
    return model


def built_booster(cls: type[BaseRFFBoost], state: dict[str, Any]) -> BaseRFFBoost:
    """The estimator of a state; a ValueError if it lacks what predictions need."""
    model, fitted = cls(**state["params"]), dict(state["fitted"])
    if not fitted:
        # A parameter of another estimator, which fits clones of it.
        return model
    require_all(model, {"n_jobs": THREADS})
    kinds = {"ensemble_": Ensemble, "loss_": Loss, "n_features_in_": int, "encoder_": FeatureEncoder}
    wrong = [name for name, kind in kinds.items() if not isinstance(fitted.get(name), kind)]
    wrong += [] if fitted.get("uses_base_margin_", True) is True else ["uses_base_margin_"]
    wrong += [] if wrong else wrong_classes(cls, fitted) + wrong_columns(fitted) + wrong_times(cls, fitted)
    built: BaseRFFBoost = with_fitted(model, fitted, wrong)
    built.encoder_.set_params(
        owner=cls.__name__, categorical_features=model.categorical_features, missing=model.missing
    )
    expansion = built.encoder_.expansion
    n_features = built.n_features_in_ if expansion is None else expansion.n_expanded
    if expansion is not None:
        expansion.check()
    built.ensemble_.check(built.n_features_in_)
    check_learner_state(built._start.learner_state, n_features, built.ensemble_.n_outputs)
    return built


def wrong_classes(cls: type[BaseRFFBoost], fitted: dict[str, Any]) -> list[str]:
    """The attribute with the classes, unless it has one for each column of the response."""
    if cls.task != "classification":
        return []
    classes = fitted.get("classes_")
    width = fitted["loss_"].link.inverse(fitted["ensemble_"].baseline[None]).shape[1]
    return [] if isinstance(classes, np.ndarray) and classes.shape == (width,) else ["classes_"]


def wrong_columns(fitted: dict[str, Any]) -> list[str]:
    """The attribute of the encoder about columns that is wrong, if any."""
    encoder, d = fitted["encoder_"], fitted["n_features_in_"]
    categories, missing, expansion = encoder.categories, encoder.missing_columns, encoder.expansion
    is_right = {
        "n_features_in_": getattr(encoder, "n_features_in_", None) == d,
        "categories": categories is None or are_categories(categories, d),
        "missing_columns": missing is None or (is_array(missing, d) and missing.dtype == bool),
        "feature_names_in_": encoder.names is None or is_text(encoder.names, d),
        "expansion": expansion is None or (isinstance(expansion, ImputeAndEncode) and expansion.n_features == d),
    }
    return [f"encoder_.{name}" for name, right in is_right.items() if not right]


def wrong_times(cls: type[BaseRFFBoost], fitted: dict[str, Any]) -> list[str]:
    """The attributes with times, and hazards at them, of survival analysis that are wrong."""
    if cls is not RFFBoostSurvival:
        return []
    times = fitted.get("unique_times_")
    size = len(times) if isinstance(times, np.ndarray) and times.ndim else 0
    names = "unique_times_", "_baseline_hazard"
    return [name for name in names if not is_array(fitted.get(name), size) or fitted[name].dtype != np.float64]


def are_categories(encoding: Any, d: int) -> bool:
    """Whether a value holds the categories of d columns: numbers or texts, or None."""
    if not isinstance(encoding, CategoryEncoding) or len(encoding.categories) != d:
        return False
    arrays = [levels for levels in encoding.categories if levels is not None]
    if not all(isinstance(levels, np.ndarray) and levels.ndim == 1 for levels in arrays):
        return False
    return all(isinstance(value, str | bytes | int | float) for levels in arrays for value in levels.tolist())


def is_array(value: Any, size: int) -> bool:
    """Whether a value is an array of shape (size,)."""
    return isinstance(value, np.ndarray) and value.shape == (size,)


def is_text(names: Any, size: Any) -> bool:
    """Whether names are an array (size,) of text."""
    return is_array(names, size) and all(isinstance(name, str) for name in names.tolist())


def built_conformal(state: dict[str, Any]) -> ConformalRegressor:
    """A conformal regressor with a fitted regressor and a margin."""
    model, fitted = ConformalRegressor(**state["params"]), state["fitted"]
    if model.estimator is not None and not isinstance(model.estimator, BaseEstimator):
        raise ValueError(f"estimator must be an estimator or None, got {model.estimator!r}")
    if not fitted:
        return model
    wrong = [name for name in ("margin_", "coverage_") if not isinstance(fitted.get(name), float)]
    inner = fitted.get("estimator_")
    if not isinstance(inner, ModelFileMixin) or is_unfitted(inner):
        wrong.append("estimator_")
    return with_fitted(model, fitted, wrong)


def encoder_state(encoder: FeatureEncoder) -> dict[str, Any]:
    """The fitted attributes; the parameters are those of the estimator."""
    return {name: vars(encoder)[name] for name in ENCODER if name in vars(encoder)}


def built_encoder(state: dict[str, Any]) -> FeatureEncoder:
    """An encoder with given attributes; a ValueError if it has others than fitted ones."""
    if unknown := sorted(state.keys() - set(ENCODER)):
        raise ValueError(f"holds a FeatureEncoder whose {unknown[0]} cannot be")
    encoder = FeatureEncoder()
    encoder.__dict__.update(state)
    return encoder


storable("FeatureEncoder", encoder_state, built_encoder)(FeatureEncoder)
for record in (Start, Recipe, MemberRule, Patience, PatienceLimit, TrainingCondition):
    storable(record.__name__)(record)
for kind in (
    *(RFFBoostClassifier, RFFBoostDistribution, RFFBoostQuantileRegressor, RFFBoostRanker, RFFBoostRegressor),
    RFFBoostSurvival,
):
    storable(kind.__name__, booster_state, partial(built_booster, kind))(kind)
storable("ConformalRegressor", estimator_state, built_conformal)(ConformalRegressor)
