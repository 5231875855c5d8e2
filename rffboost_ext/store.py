"""Methods of estimators for model files."""

from __future__ import annotations

from os import PathLike
from typing import TypeVar

E = TypeVar("E", bound="StoreMixin")


class StoreMixin:
    """Saves a fitted estimator as data, and loads it again."""

    def save_model(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to a file that holds data only; see :func:`~rffboost_ext.save_model`.

        Parameters
        ----------
        path : str or path
            The file, written atomically.

        Raises
        ------
        NotFittedError, TypeError, OSError
            If the model is not fitted, holds what cannot be stored, or the file cannot be written.
        """
        from .model_file import save_model

        save_model(self, path)

    @classmethod
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
        from .model_file import load_model

        model: E = load_model(path, cls)
        return model
