"""The model that a fit continues from: one that the user gives, or that of the previous fit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..core import Link, Loss
from ..rows.category_encoding import CategoryEncoding, category_lists
from ..rows.feature_encoder import FeatureEncoder
from ..rows.tables import with_underscores
from ..terms.ensemble import Ensemble
from ..utils.typing import Array
from .fitted_ensemble import FittedEnsembleMixin


@dataclass(frozen=True)
class InitModel:
    """What is known of a model: its raw scores, and its link if known.

    Attributes
    ----------
    ensemble : Ensemble
    link : Link, optional
        Of its raw scores.
    n_features : int, optional
    classes : ndarray, optional
        Labels, where they are the user's.
    categories : CategoryEncoding, optional
        Categories of the columns; None if all are numbers.
    knows_categories : bool
        Whether the categories are known.
    names : ndarray, optional
        Names of the columns, if known.
    uses_base_margin : bool, optional
        Whether it was fitted with an offset, if known.
    description : str
        The model, in messages.
    """

    ensemble: Ensemble
    link: Link | None = None
    n_features: int | None = None
    classes: Array | None = None
    categories: CategoryEncoding | None = None
    knows_categories: bool = True
    names: Array | None = None
    uses_base_margin: bool | None = None
    description: str = "that it is"


def compatible_ensemble(
    model: InitModel,
    loss: Loss,
    n_outputs: int,
    classes: Array | None,
    encoder: FeatureEncoder,
    has_offset: bool,
) -> Ensemble:
    """The ensemble of a model, if boosting with `loss` can continue from it, else a ValueError.

    Features, categories, outputs, classes and the link must be the same, and both have an offset or none.
    """
    if model.n_features is not None and model.n_features != encoder.n_features_in_:
        raise ValueError(
            f"init_model must have the {encoder.n_features_in_} features of X, got {model.n_features}"
        )
    require_same_names(model.names, encoder.names)
    if model.knows_categories:
        require_same_categories(model.categories, encoder.categories)
    if model.ensemble.n_outputs != n_outputs:
        raise ValueError(
            f"init_model must have the {n_outputs} outputs of loss {loss!r}, got {model.ensemble.n_outputs}"
        )
    if model.classes is not None and not np.array_equal(model.classes, classes):  # type: ignore[arg-type]
        if classes is None:
            raise ValueError(
                f"init_model must be a regressor, as this one is, got a classifier: {model.description}"
            )
        raise ValueError(f"init_model must have the classes of y, {classes}, got {model.classes}")
    if model.link is not None and model.link != loss.link:
        what = f"the link of loss {loss!r}, {loss.link!r}, got {model.link!r}"
        if type(model.link) is type(loss.link) and type(loss).prepared is not Loss.prepared:
            what = f"the same link, which loss {type(loss).__name__} prepares anew for the targets of each fit"
        raise ValueError(
            f"init_model must have {what}: pass the loss that it was trained with, loss=init_model.loss_, or an "
            f"Ensemble of suitable raw scores, such as 0.5 * to_ensemble(model)"
        )
    if model.uses_base_margin not in (None, has_offset):
        how = "with" if model.uses_base_margin else "without"
        raise ValueError(
            f"init_model was fitted {how} base_margin, so the fit that continues it must be too; its ensemble_ "
            f"is taken as scores before the offset"
        )
    return model.ensemble


READERS: dict[str, Callable[[Any], InitModel]] = {}
"""Readers of the models of other packages, by the name of the package."""


@singledispatch
def read_init_model(model: Any) -> InitModel:
    """Read a model of ours, XGBoost's or LightGBM's; classes of this package register their reader here."""
    for cls in type(model).__mro__:
        if reader := READERS.get(cls.__module__.partition(".")[0]):
            return reader(model)
    raise TypeError(
        f"init_model must be an Ensemble, a fitted estimator of this package, or a Booster or scikit-learn model "
        f"of XGBoost or LightGBM, got {model!r}"
    )


@read_init_model.register
def _(model: Ensemble) -> InitModel:
    return InitModel(model, knows_categories=False)


@read_init_model.register
def _(model: FittedEnsembleMixin) -> InitModel:
    check_is_fitted(model)
    return InitModel(
        model.ensemble_,
        model.loss_.link,
        model.n_features_in_,
        getattr(model, "classes_", None),
        model.encoder_.categories,
        names=model.encoder_.names,
        uses_base_margin=model.uses_base_margin_,
        description=repr(model),
    )


def require_same_names(theirs: Array | None, names: Array | None) -> None:
    """Raise a ValueError if both have column names that differ by more than underscores for spaces."""
    if theirs is None or names is None:
        return
    without_blanks = [[with_underscores(name) for name in those] for those in (theirs, names)]
    if without_blanks[0] != without_blanks[1]:
        raise ValueError(f"init_model must have the columns of X, {list(names)}, got {list(theirs)}")


def require_same_categories(model: CategoryEncoding | None, coding: CategoryEncoding | None) -> None:
    """Raise a ValueError that names a column whose categories a model does not know."""
    theirs, ours = category_lists(model), category_lists(coding)
    for column in range(max(len(theirs), len(ours))):
        one, two = (entries[column] if entries else None for entries in (theirs, ours))
        if one == two:
            continue
        if one is None or two is None:
            kinds = ["numbers" if entry is None else f"categories, such as {entry[:1]}" for entry in (two, one)]
            difference = f"column {column} of X holds {kinds[0]}, that of the model {kinds[1]}"
        else:
            difference = f"in column {column} it lacks {[entry for entry in two if entry not in one][:5]}"
        raise ValueError(
            f"init_model must have the categories of X: {difference}; an Ensemble is taken to act on their codes, "
            f"0 for the first"
        )
