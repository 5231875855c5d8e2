"""Model files: estimators and ensembles in one documented, versioned format that holds data only.

The format is documented in :mod:`rffboost_ext.persistence.container` (bytes) and
:mod:`rffboost_ext.persistence.values` (contents).
No code from a file is run: classes are looked up by name among those that are registered.
"""

from __future__ import annotations

import json
import numbers
import os
from collections.abc import Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any, TypeVar

from sklearn.utils.validation import check_is_fitted

from ..terms.ensemble import Ensemble
from ..utils.param_validation import check_metadata
from ..utils.warnings import warn_user
from .container import intact_bytes, naming_file, read_value, split_sections, write_value

E = TypeVar("E", bound="ModelFileMixin")


class MethodOfClass(classmethod):  # type: ignore[type-arg]
    """A class method that refuses a call on an instance, which stays as it is: XGBoost's loads into it."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return super().__get__(instance, owner)
        name = self.__func__.__name__

        def refuse(*args: Any, **kwargs: Any) -> None:
            raise TypeError(
                f"{name} returns a new model and must be called on the class, as in "
                f"model = {type(instance).__name__}.{name}(path), got a call on an instance"
            )

        return refuse


class ModelFileMixin:
    """Saves a fitted estimator as data, and loads it again."""

    def save_model(
        self, path: str | PathLike[str], *, metadata: Mapping[str, str] | None = None, model_version: int = 0
    ) -> None:
        """Write the fitted model to a file that holds data only; see :func:`~rffboost_ext.save_model`.

        Parameters
        ----------
        path : str or path
            The file, written atomically.
        metadata, model_version
            As in :func:`~rffboost_ext.save_model`.

        Raises
        ------
        NotFittedError, TypeError, ValueError, OSError
            If the model is not fitted, holds what cannot be stored, an argument is invalid, or the file cannot be
            written.
        """
        save_model(self, path, metadata=metadata, model_version=model_version)

    @MethodOfClass
    def load_model(cls: type[E], path: str | PathLike[str]) -> E:
        """A new model from a file that :meth:`save_model` has written; see :func:`~rffboost_ext.load_model`.

        Parameters
        ----------
        path : str or path
            The file.

        Returns
        -------
        model
            Predicts, and continues fitting, with the same bits as the one that was saved.

        Raises
        ------
        ValueError
            If the file is damaged, incomplete, not a model file, from a later version, or holds another kind of
            model.
        OSError
            If it cannot be read.
        """
        model: E = load_model(path, cls)
        return model


def save_model(
    model: ModelFileMixin | Ensemble,
    path: str | os.PathLike[str],
    *,
    metadata: Mapping[str, str] | None = None,
    model_version: int = 0,
) -> None:
    """Write a fitted estimator, or an ensemble, to a file from which :func:`load_model` restores it.

    The file is written atomically: an existing one stays as it is until the new one is complete.

    Parameters
    ----------
    model : estimator of this package or Ensemble
        What to write: of an estimator its parameters and fitted state, including what a warm start needs.
        Parameters and arrays are stored exactly. Callbacks and functions in ``eval_metric``, which only observe a
        fit, are left out, with a warning.
    path : str or path
        The file, with any extension; ``.rffboost`` is usual.
    metadata : dict of str to str, optional
        Entries of your own, such as the data or the commit of a fit, which :func:`describe_model` reads.
    model_version : int, default=0
        The version of your model, likewise.

    Raises
    ------
    NotFittedError
        If the estimator is not fitted.
    ValueError
        If `model_version` is negative.
    TypeError
        If `metadata` is no dict of texts, or the model holds something that cannot be stored, such as a part that
        is not registered, or categories that are neither text nor numbers; the message names the part, or the
        column. Nothing is written then. See :func:`~rffboost_ext.storable`.
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
    entries = check_metadata("save_model", metadata, model_version)
    if isinstance(model, ModelFileMixin):
        check_is_fitted(model)
        warn_of_what_is_left_out(model)
    write_value(path, model, type(model).__name__, {key: entry for key, entry in entries.items() if entry})


@dataclass(frozen=True)
class ModelDescription:
    """What a model file says of its model.

    Attributes
    ----------
    written_by : str
        The package and its version.
    metadata : dict of str to str
        The user's entries, an argument of :func:`save_model`.
    model_version : int
        The user's version, likewise; 0 for none.
    """

    written_by: str
    metadata: dict[str, str]
    model_version: int


def describe_model(path: str | os.PathLike[str]) -> ModelDescription:
    """Read what a model file says of its model, without the model.

    Parameters
    ----------
    path : str or path
        A file of :func:`save_model`.

    Returns
    -------
    ModelDescription

    Raises
    ------
    TypeError, ValueError
        If `path` is not a path, or the file is damaged, incomplete, or no model file.
    OSError
        If it cannot be read.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor, describe_model
    >>> X = np.arange(50.0)[:, None]
    >>> model = RFFBoostRegressor(learner="tree", n_estimators=5).fit(X, X[:, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save_model(f"{folder}/line.rffboost", metadata={"commit": "4f2a"}, model_version=3)
    ...     description = describe_model(f"{folder}/line.rffboost")
    >>> description.metadata, description.model_version
    ({'commit': '4f2a'}, 3)
    """
    with intact_bytes(path) as data:
        header = json.loads(split_sections(data)[0])
        return ModelDescription(header["written_by"], header.get("metadata", {}), header.get("model_version", 0))


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
    estimator or Ensemble

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

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from rffboost_ext import RFFBoostRegressor, load_model
    >>> X = np.arange(50.0)[:, None]
    >>> model = RFFBoostRegressor(learner="tree", n_estimators=5).fit(X, X[:, 0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save_model(f"{folder}/line.rffboost")
    ...     again = load_model(f"{folder}/line.rffboost")
    >>> type(again).__name__, bool((again.predict(X) == model.predict(X)).all())
    ('RFFBoostRegressor', True)
    """
    model = read_value(path)
    if isinstance(model, Ensemble):
        with naming_file(os.fspath(path)):
            model.check(None)
    if isinstance(model, ModelFileMixin) and is_unfitted(model):
        raise ValueError(f"{os.fspath(path)!r} holds a {type(model).__name__} that is not fitted")
    if not isinstance(model, cls or ModelFileMixin | Ensemble):
        expected = "model" if cls is None else cls.__name__
        raise ValueError(f"{os.fspath(path)!r} holds a {type(model).__name__}, not a {expected}")
    return model


def left_out(params: Mapping[str, Any]) -> dict[str, str]:
    """The parameters that only observe a fit and are not stored, and their names in messages."""
    metrics = params.get("eval_metric")
    functions = any(map(callable, metrics if isinstance(metrics, list | tuple) else [metrics]))
    names = {"callbacks": "callbacks"} if params.get("callbacks") is not None else {}
    if not isinstance(params.get("validation_fraction", 0.0), numbers.Real):
        names["validation_fraction"] = "splitters of validation_fraction"
    return names | ({"eval_metric": "functions of eval_metric"} if functions else {})


def warn_of_what_is_left_out(model: Any) -> None:
    """Warn of parameters of the model, or of boosters among them, that are not stored."""
    boosters: list[Any] = [one for one in (model, *model.get_params().values()) if isinstance(one, ModelFileMixin)]
    for booster in boosters:
        for name in left_out(booster.get_params(deep=False)).values():
            warn_user(f"{name} are no part of a model file: the loaded model has the default")


def is_unfitted(model: Any) -> bool:
    """Whether an estimator has parameters only."""
    return not any(name.endswith("_") for name in vars(model))
