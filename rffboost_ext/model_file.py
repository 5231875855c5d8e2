"""Model files: estimators and ensembles in one documented, versioned format that holds data only.

The format is documented in :mod:`rffboost_ext.storage.container` (bytes) and :mod:`rffboost_ext.storage.values`
(contents). No code from a file is run: classes are looked up by name among those that are registered.
"""

from __future__ import annotations

import os
from typing import Any

from sklearn.utils.validation import check_is_fitted

from .ensemble import Ensemble
from .storage import document
from .store import StoreMixin
from .stored_estimators import is_unfitted, warn_of_what_is_left_out

KIND = "model"


def save_model(model: StoreMixin | Ensemble, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator, or an ensemble, to a file from which :func:`load_model` restores it.

    The file is written atomically: an existing one stays as it is until the new one is complete.

    Parameters
    ----------
    model : RFFBoostClassifier, RFFBoostRegressor, RFFBoostQuantileRegressor, ConformalRegressor or Ensemble
        What to write: of an estimator its parameters and fitted state, including what a warm start needs.
        Parameters and arrays are stored exactly. Callbacks and functions in ``eval_metric``, which only observe a
        fit, are left out, with a warning.
    path : str or path
        The file, with any extension; ``.rffboost`` is usual.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    TypeError
        If the model holds something that cannot be stored, such as a part that is not registered, or categories
        that are neither text nor numbers; the message names the part, or the column. Nothing is written then. See
        :func:`~rffboost_ext.storable`.
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

    It predicts, and continues fitting in a warm start, with the same bits as the one that was saved.

    Parameters
    ----------
    path : str or path
        The file.
    cls : type, optional
        The type that it must have.

    Returns
    -------
    RFFBoostClassifier, RFFBoostRegressor, RFFBoostQuantileRegressor, ConformalRegressor or Ensemble

    Raises
    ------
    TypeError, ValueError
        If `path` is not a path, or the file is damaged, incomplete, not a model file, from a later version, or
        holds a part that is not registered here, or not a `cls`.
    OSError
        If it cannot be read.

    Notes
    -----
    A file is data: no class is imported for it and no code from it is run. Registered classes are called with the
    values in the file, as if you had written the call yourself.
    """
    model = document.read(path, KIND)
    if isinstance(model, StoreMixin) and is_unfitted(model):
        raise ValueError(f"{os.fspath(path)!r} holds a {type(model).__name__} that is not fitted")
    if not isinstance(model, cls or StoreMixin | Ensemble):
        wanted = "model" if cls is None else cls.__name__
        raise ValueError(f"{os.fspath(path)!r} holds a {type(model).__name__}, not a {wanted}")
    return model
