"""Model files: estimators and ensembles in one documented, versioned format that holds data only.

The format is told in :mod:`rffboost_ext.storage.container` (bytes) and :mod:`rffboost_ext.storage.values`
(contents). Nothing of a file is run: classes are found by name among those that are registered.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .base import BaseRFFBoost
from .coding import Coding
from .core import Loss
from .ensemble import Ensemble
from .estimators import RFFBoostClassifier, RFFBoostRegressor
from .storage import document, parts, storable
from .store import StoreMixin
from .stored_estimators import estimator_state, is_unfitted, warn_of_what_is_left_out
from .terms import Expansion

KIND = "model"


def save_model(model: StoreMixin | Ensemble, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator, or an ensemble, to a file from which :func:`load_model` makes the same again.

    The file appears whole or not at all: one that is there already stays as it is until the new one is complete.

    Parameters
    ----------
    model : RFFBoostClassifier, RFFBoostRegressor, RFFBoostQuantileRegressor, ConformalRegressor or Ensemble
        What to write: of an estimator its parameters and all that it has learned, what a warm start goes on from
        included. Parameters and arrays are stored to the bit. What only watches a fit, callbacks and functions of
        ``eval_metric``, is left out, with a warning.
    path : str or path
        The file. Its name may end as you like; ``.rffboost`` is usual.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    TypeError
        If the model holds something that has no name to be stored by, such as a part that is not registered; the
        message names it. Nothing is written then. See :func:`~rffboost_ext.storable`.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor, load_model
    >>> X = np.linspace(-3, 3, 100)[:, None]
    >>> model = RFFBoostRegressor(n_estimators=5, random_state=0).fit(X, np.sin(X[:, 0]))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save_model(f"{folder}/sine.rffboost")
    ...     again = load_model(f"{folder}/sine.rffboost")
    >>> bool((again.predict(X) == model.predict(X)).all())
    True
    """
    if isinstance(model, StoreMixin):
        check_is_fitted(model)
        warn_of_what_is_left_out(model)
    document.write(path, KIND, model, type(model).__name__)


def load_model(path: str | os.PathLike[str], cls: type | None = None) -> Any:
    """The estimator or ensemble that :func:`save_model` has written.

    It predicts, and goes on fitting in a warm start, to the same bits as the one that was saved.

    Parameters
    ----------
    path : str or path
        The file.
    cls : type, optional
        What it must be.

    Returns
    -------
    RFFBoostClassifier, RFFBoostRegressor, RFFBoostQuantileRegressor, ConformalRegressor or Ensemble

    Raises
    ------
    ValueError
        If the file is damaged, incomplete, of another program, of a later version, or holds a part that is not
        registered here, or no `cls`.
    OSError
        If it cannot be read.

    Notes
    -----
    A file is data: no class is imported for it and none of it is run. What is registered here by name is called
    with what the file says, as if you had written it yourself.
    """
    model = document.read(path, KIND)
    if isinstance(model, StoreMixin) and is_unfitted(model):
        raise ValueError(f"{os.fspath(path)!r} holds a {type(model).__name__} that is not fitted")
    if not isinstance(model, cls or StoreMixin | Ensemble):
        wanted = "model" if cls is None else cls.__name__
        raise ValueError(f"{os.fspath(path)!r} holds a {type(model).__name__}, not a {wanted}")
    return model


def built_estimator(cls: type[BaseRFFBoost], state: dict[str, Any]) -> BaseRFFBoost:
    """The estimator of a state; a ValueError if it lacks what it predicts by."""
    model, fitted = cls(**state["params"]), state["fitted"]
    if not fitted:
        # A parameter of another estimator, which fits clones of it.
        return model
    known = {"ensemble_": Ensemble, "loss_": Loss, "n_features_in_": int}
    wrong = [name for name, kind in known.items() if not isinstance(fitted.get(name), kind)]
    if cls.task == "classification" and not isinstance(fitted.get("classes_"), np.ndarray):
        wrong.append("classes_")
    wrong += wrong_columns(fitted)
    wrong += [name for name in fitted if hasattr(cls, name) and callable(getattr(cls, name))]
    if wrong:
        raise ValueError(f"holds a {cls.__name__} whose {wrong[0]} cannot be")
    for term in fitted["ensemble_"].terms:
        parts.require_features(term, fitted["n_features_in_"])
    model.__dict__.update(fitted)
    return model


def wrong_columns(fitted: dict[str, Any]) -> list[str]:
    """What is wrong with what a fit has learned of columns; files of earlier versions have nothing of it."""
    coding, gaps, expansion = (fitted.get(name) for name in ("_coding", "_gaps", "_expansion"))
    d = fitted.get("n_features_in_")
    is_right = {
        "_coding": coding is None or (isinstance(coding, Coding) and len(coding.categories) == d),
        "_gaps": gaps is None or (isinstance(gaps, np.ndarray) and gaps.shape == (d,) and gaps.dtype == bool),
        "_expansion": expansion is None or (isinstance(expansion, Expansion) and expansion.n_features == d),
    }
    return [name for name, right in is_right.items() if not right]


def _enter(cls: type[BaseRFFBoost]) -> None:
    storable(cls.__name__, estimator_state, lambda state: built_estimator(cls, state))(cls)


_enter(RFFBoostClassifier)
_enter(RFFBoostRegressor)
