"""Cosines fitted inside another library's training loop, beside its trees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any
from weakref import WeakKeyDictionary, ref

import numpy as np

from ..boosting.steps import STEPS, Shrunk, default_step
from ..core import Learner, Loss, Step, Term
from ..estimators.base import BaseRFFBoost
from ..learners.composition import check_composition
from ..learners.design import Design
from ..learners.registry import LEARNERS
from ..losses.registry import LOSSES
from ..preprocessing.column_statistics import mean_and_scale
from ..preprocessing.scaling import fit_clipping
from ..utils.parallel import number_of_threads
from ..utils.param_validation import EXTRAPOLATION, POSITIVE, THREADS, Integer, require
from ..utils.typing import Array
from .cosine_training import Part, Training, interleaved
from .fitted_estimator import fitted
from .objectives import fitted_to, labels, mean_loss, metric_name, targets, weighted_derivatives, weights
from .score_conversion import columns
from .trace import Trace, spread

DOC = """A loss as an objective that adds cosines of its own: in each round first a cosine, then the host's tree.

    Both are fitted to the same derivatives, those at the sum of both parts. The sum starts from the loss's
    baseline, wherever the host's scores start. The object keeps the state of one training.

    Parameters
    ----------
    loss : str or Loss, default="log_loss"
        What is minimised.
    learner : str or Learner, default="rff_1"
        What fits a cosine; any learner works.
    every : int, default=1
        Host rounds per cosine.
    step : str or Step, default="auto"
        Rule for the step length of each cosine.
    learning_rate : float, default=0.1
        Shrinkage of the cosines' steps; that of the trees is the host's.
    extrapolation : "constant" or "continue", default="constant"
        What cosines do outside a feature's training range, as in :class:`~rffboost_ext.RFFBoostClassifier`.
    random_state : int, default=0
        Seed of the cosines.
    n_jobs : int or None, default=None
        Threads for cosines: None for one, -1 for all.

    Raises
    ------
    ValueError, TypeError
        If a parameter or a part is invalid or two parts are incompatible. In training: if labels do not suit the
        loss, the features are not available, categorical or not finite, weights are not positive, or the training
        does not start from constant scores.
"""
"""Docstring of each host's class."""


class CosineObjective(ABC):
    """Host-independent base class; see the modules of the hosts."""

    def __init__(
        self,
        loss: str | Loss = "log_loss",
        learner: str | Learner = "rff_1",
        every: int = 1,
        *,
        step: str | Step = "auto",
        learning_rate: float = 0.1,
        extrapolation: str = "constant",
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        given = {
            "every": (every, Integer(1)),
            "learning_rate": (learning_rate, POSITIVE),
            "extrapolation": (extrapolation, EXTRAPOLATION),
            "random_state": (random_state, Integer(0)),
            "n_jobs": (n_jobs, THREADS),
        }
        for name, (value, check) in given.items():
            require("CosineObjective", name, value, check)
        self.loss, self.learner = LOSSES.create(loss), LEARNERS.create(learner)
        self.step = step if isinstance(step, str) and step == "auto" else STEPS.create(step)
        self.learning_rate, self.every, self.random_state, self.n_jobs = learning_rate, every, random_state, n_jobs
        self.extrapolation = extrapolation
        self._step_for(self.loss)
        self._training: Training | None = None
        self._matrix: Any = None
        self._parts: WeakKeyDictionary[Any, Part] = WeakKeyDictionary()

    @abstractmethod
    def _width(self, matrix: Any) -> int | None:
        """Number of columns of a matrix; None if not known yet."""

    @abstractmethod
    def _features(self, matrix: Any) -> Array:
        """The features of a matrix, (n, d), or an error that says how to provide them."""

    @abstractmethod
    def _check_attached(self, matrix: Any, X: Array) -> None:
        """Raise a ValueError if a matrix is known to hold other features than those that are handed over."""

    @abstractmethod
    def _seen(self, matrix: Any, rows: Array) -> Array | None:
        """Some rows of a matrix as the host's trees see them; None if it does not return them."""

    @abstractmethod
    def _rounds(self, booster: Any) -> tuple[list[Term | None], int]:
        """The tree of each round of a booster, up to its best, None where it has none; its number of features."""

    @abstractmethod
    def _names(self, booster: Any) -> Array | None:
        """The names of its columns, if they are certain to be the user's."""

    def attach(self, matrix: Any, X: Any) -> None:
        """Provide the features of a matrix that does not return them.

        Parameters
        ----------
        matrix : DMatrix or Dataset
            For training or for evaluation.
        X : array-like of shape (n, d)
            Its features, finite.

        Raises
        ------
        ValueError
            If X is not of shape (n, d) with the rows and columns of the matrix, or not finite, or the matrix has
            other features, as far as it can be asked: trees and cosines see the same numbers.
        """
        X = np.asarray(X)
        X = X if X.dtype == np.float32 else X.astype(np.float64)
        require_features(X, len(labels(matrix)))
        known = self._width(matrix)
        if known is not None and X.shape[1] != known:
            raise ValueError(f"CosineObjective: X must have the {known} columns of the matrix, got {X.shape[1]}")
        self._check_attached(matrix, X)
        self._parts[matrix] = Part(X, np.zeros((len(X), 1)))

    def __call__(self, scores: Array, matrix: Any) -> tuple[Array, Array]:
        """Add a cosine if one is due, and return the derivatives for the next tree, in the shape of `scores`."""
        if isinstance(matrix, np.ndarray):
            raise TypeError(
                "a CosineObjective is for xgboost.train, whose objectives see the matrix; XGBoost's scikit-learn "
                "estimators hand over labels"
            )
        host = columns(scores)
        if self._training is None:
            self._training, self._matrix = self._begun(host, matrix), ref(matrix)
        elif self._matrix is None or self._matrix() is not matrix:
            raise ValueError("a CosineObjective serves one training; make a new one for the next matrix")
        training = self._training
        training.proceed(host)
        if (training.calls - 1) % self.every == 0:
            training.grow(self.learner, host, self.random_state)
        total, weight = training.total(host), weights(matrix)
        gradient, hessian = weighted_derivatives(training.loss, training.y, total, weight)
        return gradient.reshape(np.shape(scores)), hessian.reshape(np.shape(scores))

    def evaluate(self, scores: Array, matrix: Any) -> tuple[str, float]:
        """Name and weighted mean of the loss at the sum of both parts, for any matrix of the training."""
        if self._training is None:
            raise ValueError("the cosines' metric has no meaning without their objective: pass both to train()")
        training, host = self._training, columns(scores)
        if self._matrix is not None and self._matrix() is matrix:
            raw = training.raw
        else:
            raw = self._part(matrix).with_all(training.terms, training.lengths)
        total = host - training.start + training.baseline + raw
        return metric_name(self.loss), mean_loss(training.loss, labels(matrix), total, weights(matrix))

    def bind(self, booster: Any) -> BaseRFFBoost:
        """The trained booster and the cosines as one fitted estimator.

        Parameters
        ----------
        booster : Booster
            The booster trained with this objective. After early stopping, only rounds up to the best are taken.

        Returns
        -------
        RFFBoostClassifier or RFFBoostRegressor
            Fitted: for prediction, pickle, and ONNX export as one graph.

        Raises
        ------
        ValueError
            If nothing was trained, or the booster is from another training (checked where the host returns its
            rows), does not start at its first round, or changes earlier trees (dart) or averages them (rf).
        """
        training = self._training
        if training is None:
            raise ValueError("bind: nothing was trained with this CosineObjective; pass it to train() first")
        trees, n_features = self._rounds(booster)
        if len(trees) > training.calls:
            raise ValueError(
                f"bind: the booster has {len(trees)} rounds, this objective has seen {training.calls}: it comes "
                f"from another training"
            )
        training.trace.require_own(trees)
        ensemble = interleaved(training, trees, self.every)
        return fitted(ensemble, training.loss, n_features, learner=self.learner, names=self._names(booster))

    def _begun(self, host: Array, matrix: Any) -> Training:
        part, weight = self._part(matrix), weights(matrix)
        if (host != host[0]).any():
            raise ValueError(
                "CosineObjective: the training must start from constant scores, without a base margin or "
                "init_score per row and without an earlier model; to go on from a model use init_model in fit"
            )
        y = labels(matrix).reshape(len(host), -1)
        weight = np.ones(len(y)) if weight is None else weight
        if not (weight > 0.0).all():
            raise ValueError(
                f"CosineObjective: weights must be positive, got {weight.min():g}; leave such rows out"
            )
        loss, baseline = fitted_to(self.loss, y, weight)
        require_outputs(loss, len(baseline), host.shape[1])
        step, y = self._step_for(loss, len(baseline)), targets(loss, y, host)
        clipping = fit_clipping(part.X) if self.extrapolation == "constant" else None
        design = Design(
            part.X, *mean_and_scale(part.X, weight, np.inf), number_of_threads(self.n_jobs), clipping=clipping
        )
        rows = spread(len(host))
        state = loss, step, design, y, weight, host[0].copy(), baseline, np.zeros_like(host)
        return Training(*state, Trace(rows, self._seen(matrix, rows)))

    def _step_for(self, loss: Loss, n_outputs: int = 1) -> Step:
        """The step for a loss, or a ValueError if the parts are incompatible."""
        step = default_step(loss, self.learner) if isinstance(self.step, str) else self.step
        check_composition(loss, self.learner, step, n_outputs)
        return Shrunk(step, self.learning_rate)

    def _part(self, matrix: Any) -> Part:
        if matrix not in self._parts:
            self.attach(matrix, self._features(matrix))
        return self._parts[matrix]

    def __getstate__(self) -> dict[str, Any]:
        # Matrices cannot be pickled; the trained state can, and can still be bound.
        return self.__dict__ | {"_matrix": None, "_parts": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _parts=WeakKeyDictionary())


def require_features(X: Array, n_samples: int) -> None:
    """Raise a ValueError unless X is (n_samples, d) and finite."""
    if X.ndim != 2 or len(X) != n_samples:
        raise ValueError(f"CosineObjective: X must have shape ({n_samples}, d), got {X.shape}")
    if not np.isfinite(X).all():
        raise ValueError(
            "CosineObjective: features must be finite for cosines, got missing or infinite ones; impute them "
            "before the matrix is made"
        )


def require_outputs(loss: Loss, needed: int, found: int) -> None:
    """Raise a ValueError if the host's number of outputs is not that of the loss."""
    if needed != found:
        raise ValueError(
            f"loss {loss!r} has {needed} outputs here, the host grows {found}: set num_class={needed}"
        )


def require_same(found: Array, X: Array) -> None:
    """Raise a ValueError unless features that are handed over are those of the matrix, but for rounding."""
    if not np.allclose(found, X, rtol=1e-6, atol=0.0):
        rows, columns = np.nonzero(~np.isclose(found, X, rtol=1e-6, atol=0.0))
        raise ValueError(
            f"CosineObjective: X must hold the numbers of the matrix, got {X[rows[0], columns[0]]:g} where it has "
            f"{found[rows[0], columns[0]]:g}, row {rows[0]}, column {columns[0]}: trees and cosines see the same "
            f"features, so make the matrix of imputed ones"
        )
