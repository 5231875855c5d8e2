"""Checkpoints: a killed fit resumes from the last one, and gives the same bits.

A checkpoint holds all that the loop needs to resume: for each model of the fit (folds, a stack, the refit) its
rounds, the exact training scores, the state that learners keep across rounds
(:meth:`~rffboost_ext.Design.learner_state`), and the state of callbacks that have one. What learners cache about
the rows during a fit (:meth:`~rffboost_ext.Design.cache`) is not included: it is rebuilt after each checkpoint,
whether the fit was killed or not, so that both give the same result whatever a learner caches.
"""

from __future__ import annotations

import os
import re
from typing import Any

from ..boosting.callbacks import Progress
from ..boosting.fit_state import FitState
from ..boosting.training import FitRecorder
from ..core import Spec
from ..data.dataset import Dataset
from ..terms.ensemble import Ensemble
from ..utils.files import resolve_target, temporary_files
from ..utils.param_validation import Integer, require
from ..utils.registry import full_repr
from .container import naming_file, read_value, write_value
from .values import Packer

KIND = "checkpoint"
# The memory address in the default ``repr`` of an object.
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
# Parameters that the fitted model does not depend on.
FREE = ("callbacks", "n_jobs", "verbose")


class Checkpoint:
    """Saves the state of a fit every few rounds, to a file from which the same fit resumes.

    To be passed to an estimator in ``callbacks``. If a fit is killed, run the same script again: it resumes from
    the file and gives the same bits as if it had not been killed. The file is replaced atomically. It is kept when
    the fit is done: the same fit run again loads its model from there, a different fit overwrites it once its
    first round is done.

    Parameters
    ----------
    path : str or path
        The file, in an existing folder; each fit that may be in progress needs its own.
    every : int, default=50
        Rounds between two checkpoints.

    Raises
    ------
    ValueError
        In fit, before any work: if the file belongs to another, unfinished fit, is damaged, or is not a
        checkpoint; if a parameter, such as ``learning_rate``, or a part is or holds a function that cannot be
        pickled by name, such as a lambda.
    OSError
        In fit, before any work: if the path is a folder, or not in one that exists. After the first round: if the
        file cannot be written.
    TypeError
        In fit, after the first round: if a custom type of term is not registered for storage; see
        :func:`~rffboost_ext.storable`.

    Notes
    -----
    All fits of the estimators are supported, with one file each: a cross-validation, for example, needs a path for
    each of its fits. Fits may use early stopping, folds, a stack, a refit, pools of rows, ``init_model``, and a
    warm start, if the model that it starts from is available again. :func:`~rffboost_ext.boost` has no checkpoints
    by itself.

    "The same bits" are those of an uninterrupted fit with checkpoints at the same rounds. They equal those of a
    fit without checkpoints, up to the rounding of held-out scores, if learners keep state across rounds only in
    ``Design.learner_state``, as the Fourier learners do. The tree learner keeps an XGBoost booster with the sum of
    its trees in float32, and bins that are found with the weights of its first round. Both begin anew after a
    checkpoint, as after a warm start: a nearly tied split may then be decided differently, and with sample
    weights, rows that occur several times, or pools, whose rows are weighted, other thresholds may be found.

    Callbacks with methods ``state()`` and ``restore(state)`` are restored; others start afresh.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from rffboost_ext import Checkpoint, RFFBoostRegressor
    >>> X = np.linspace(-3, 3, 100)[:, None]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     checkpoint = Checkpoint(f"{folder}/sine.checkpoint", every=10)
    ...     model = RFFBoostRegressor(n_estimators=30, callbacks=[checkpoint], random_state=0)
    ...     _ = model.fit(X, np.sin(X[:, 0]))
    """

    def __init__(self, path: str | os.PathLike[str], every: int = 50) -> None:
        require("Checkpoint", "every", every, Integer(1))
        self.path = os.fspath(path)
        self.every = every

    def __call__(self, progress: Progress) -> None:
        """A checkpoint is for an estimator, which knows the whole fit."""
        raise TypeError("Checkpoint is for the callbacks of an estimator; boost() by itself has no checkpoints")

    def __repr__(self) -> str:
        return f"Checkpoint({self.path!r}, every={self.every})"


class CheckpointRecorder(FitRecorder):
    """Keeps the progress of a fit in a file.

    Parameters
    ----------
    checkpoint : Checkpoint
        Where and when.
    fit : dict of str to str
        Identifies this fit: a hash of everything that its result depends on, by name.
    """

    def __init__(self, checkpoint: Checkpoint, fit: dict[str, str]) -> None:
        super().__init__()
        self.every, self.path, self.fit = checkpoint.every, checkpoint.path, fit
        self.models: list[dict[str, Any]] = []
        self._begun, self._tried, self._finished = 0, False, False
        self._seeds: tuple[int, int] | None = None
        if resolve_target(self.path).exists():
            self._read()
        for file in temporary_files(self.path):
            file.unlink(missing_ok=True)

    def _read(self) -> None:
        """Load the contents of the file, if they belong to this fit."""
        found = read_value(self.path, KIND)
        names = self.fit.keys() | found["fit"]
        differing = sorted(name for name in names if self.fit.get(name) != found["fit"].get(name))
        if not differing:
            self.models, self._seeds, self._finished = found["models"], found["seeds"], found["finished"]
        elif not found["finished"]:
            raise ValueError(
                f"Checkpoint: {self.path!r} is of another fit that is not done, which differs in "
                f"{', '.join(differing)}; delete it or give another path"
            )

    def seeds(self, new: tuple[int, int]) -> tuple[int, int]:
        """The seeds of the fit: those of the file, if it has any."""
        self._seeds = self._seeds or new
        return self._seeds

    def resume(self, state: FitState) -> None:
        """Restore the next model, if it is in the file."""
        self._begun += 1
        if self._begun <= len(self.models):
            with naming_file(self.path):
                state.restore(self.models[self._begun - 1])

    def inspect(self, progress: Progress) -> None:
        """Write a new file after the first round; a TypeError if its term cannot be stored.

        Not before it: the file of a fit that is done must survive one that is refused.
        """
        if not self._tried:
            Packer().pack(progress.term.materialized(), "the term of the first round")
            if not self.models:
                self._write()
            self._tried = True

    def record(self, state: FitState) -> None:
        """Write the state of the model that is being trained."""
        self.models[self._begun - 1 :] = [state.state()]
        self._write()

    def close(self) -> None:
        """Write that the fit is done."""
        if not self._finished:
            self._finished = True
            self._write()

    def _write(self) -> None:
        held = {"fit": self.fit, "seeds": self._seeds, "models": self.models, "finished": self._finished}
        write_value(self.path, KIND, held, "the checkpoint")


def recorder_for(model: Any, rows: Dataset, held: Any, init: Ensemble | None) -> FitRecorder:
    """The journal of a fit: in a file if there is a checkpoint among the callbacks of the estimator.

    Raises
    ------
    ValueError
        If there are several, or the file is not of this fit.
    """
    found = [one for one in model.callbacks or () if isinstance(one, Checkpoint)]
    if not found:
        return FitRecorder()
    if len(found) > 1:
        raise ValueError(f"{type(model).__name__}: callbacks must hold one Checkpoint at most, got {found}")
    return CheckpointRecorder(found[0], fit_fingerprint(model, rows, held, init) | {"every": str(found[0].every)})


def fit_fingerprint(model: Any, rows: Dataset, held: Any, init: Ensemble | None) -> dict[str, str]:
    """A hash of everything that the result of a fit depends on, by name."""
    from .._version import __version__

    given = {name: value for name, value in model.get_params(deep=False).items() if name not in FREE}
    given |= {"X": rows.X, "y": rows.y, "sample_weight": rows.weight, "base_margin": rows.offset}
    given |= {"eval_set": held, "init_model": init}
    if rows.group is not None:
        given["groups"] = rows.group
    owner = type(model).__name__
    return {name: digest(owner, name, value) for name, value in given.items()} | {"rffboost_ext": __version__}


def digest(owner: str, name: str, value: Any) -> str:
    """A hash of a value, or its repr; a ValueError for a function that another process could not identify."""
    from joblib import hash

    try:
        return str(hash(value))
    except Exception as error:  # whatever pickling a user's own object may raise
        # A part of a class that pickle does not find is known by its hyperparameters.
        text = full_repr(value) if isinstance(value, Spec) else repr(value)
        if ADDRESS.search(text):
            raise ValueError(
                f"{owner}: {name} must be known again when a fit goes on from its Checkpoint: a function must be "
                f"one that pickle finds by its name, got {text}"
            ) from error
        return text
