"""Cosines fitted inside another library's training loop, beside its trees."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..boosting.parts import check_composition, default_step
from ..boosting.round_update import RoundFitter
from ..boosting.steps import STEPS, Shrunk
from ..core import Learner, Loss, Observations, Step, Term
from ..data.dataset import Dataset
from ..estimators.base import BaseRFFBoost
from ..inspection.importance import defer_importances
from ..learners.design import Design
from ..learners.registry import LEARNERS
from ..losses.registry import LOSSES
from ..preprocessing.feature_expansion import fit_clipping, mean_and_scale
from ..terms import ClipAndLog
from ..utils.parallel import count_threads
from ..utils.param_validation import EXTRAPOLATION, POSITIVE, THREADS, Integer, require
from ..utils.typing import Array
from .attachments import attach
from .cosine_training import CosineSum, CosineTraining, ScoreTrace, evenly_spaced_rows
from .fitted_estimator import fitted
from .matrix_rows import read_targets, read_weights, require_whole_groups
from .prepared_losses import n_classes_of_scores, prepare_for_training
from .score_conversion import as_columns
from .trainings import Trainings
from .weighted_losses import mean_loss, weighted_derivatives

DOC = """A loss as an objective that adds cosines to the host's trees.

    Each round fits a cosine, then the host's tree, to the derivatives at the sum of both parts. The sum starts
    from the loss's baseline, whatever the host's initial score. The object holds the state of its trainings, one
    for each training matrix, such as those of the folds of ``cv``.

    Parameters
    ----------
    loss : str or Loss, default="log_loss"
        The loss to minimise.
    learner : str or Learner, default="rff_1"
        Fits the cosines; any learner is allowed.
    every : int, default=1
        Host rounds per cosine.
    step : str or Step, default="auto"
        Rule for the step length of each cosine.
    learning_rate : float, default=0.1
        Shrinkage of the cosines' steps; that of the trees is the host's.
    extrapolation : "constant" or "continue", default="constant"
        How cosines extrapolate beyond a feature's training range, as in
        :class:`~rffboost_ext.RFFBoostClassifier`.
    random_state : int, default=0
        Seed of the cosines.
    n_jobs : int or None, default=None
        Threads for cosines: None for one, -1 for all.

    Raises
    ------
    ValueError, TypeError
        If a parameter or a part is invalid or two parts are incompatible. In training: if the loss does not accept
        the labels, the features are unavailable, categorical or not finite, weights are not positive, or the
        training does not start from constant scores.
"""
"""Docstring of each host's class."""


class CosineObjectiveBase(ABC):
    """Host-independent base class; each host's module has the public class."""

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
        self._shrunk_step(self.loss)
        self._trainings = Trainings()
        self._sums: WeakKeyDictionary[Any, CosineSum] = WeakKeyDictionary()

    @abstractmethod
    def _n_features(self, matrix: Any) -> int | None:
        """Number of columns of a matrix; None if not known yet."""

    @abstractmethod
    def _features(self, matrix: Any) -> Array:
        """The features of a matrix, (n, d), or an error that says how to provide them."""

    @abstractmethod
    def _check_attached(self, matrix: Any, X: Array) -> None:
        """Raise a ValueError if a matrix is known to hold other features than X."""

    @abstractmethod
    def _tree_inputs(self, matrix: Any, rows: Array) -> Array | None:
        """Some rows of a matrix as the host's trees read them; None if the host does not return them."""

    @abstractmethod
    def _read_trees(self, booster: Any, training: CosineTraining) -> tuple[list[Term | None], int]:
        """The tree of each round of a booster up to its best, None if it has none; its number of features."""

    @abstractmethod
    def _feature_names(self, booster: Any) -> Array | None:
        """The names of its columns, if they are certain to be the user's."""

    def attach(self, matrix: Any, X: Any = None, *, y: Any = None) -> None:
        """Provide the features of a matrix that does not return them, or a target of several columns.

        Parameters
        ----------
        matrix : DMatrix or Dataset
            For training or for evaluation.
        X : array-like of shape (n, d), optional
            Its features, finite.
        y : array-like of shape (n,) or (n, K), optional
            Its target, as by the function ``attach`` of this module.

        Raises
        ------
        ValueError
            If X is not finite, or its shape or values are known to differ from those of the matrix: trees and
            cosines must use the same features; or if y is invalid.
        """
        if y is not None:
            attach(matrix, y=y)
        if X is None:
            return
        X = np.asarray(X)
        X = X if X.dtype == np.float32 else X.astype(np.float64)
        require_features(X, len(read_targets(matrix, self.loss)))
        n_features = self._n_features(matrix)
        if n_features is not None and X.shape[1] != n_features:
            raise ValueError(
                f"CosineObjective: X must have the {n_features} columns of the matrix, got {X.shape[1]}"
            )
        self._check_attached(matrix, X)
        self._sums[matrix] = CosineSum(X, np.zeros((len(X), 1)))

    def __call__(self, scores: Array, matrix: Any) -> tuple[Array, Array]:
        """Add a cosine if one is due, and return the derivatives for the next tree, in the shape of `scores`."""
        if isinstance(matrix, np.ndarray):
            raise TypeError(
                "a CosineObjective is for xgboost.train, which passes the matrix; XGBoost's scikit-learn "
                "estimators pass labels"
            )
        host = as_columns(scores)
        training = self._trainings.of_training_matrix(matrix)
        if training is None:
            training = self._start_training(host, matrix)
            self._trainings.add(matrix, training)
        training.start_round(host)
        if (training.n_calls - 1) % self.every == 0:
            training.add_cosine(host)
        fitter, raw = training.fitter, training.total(host, training.raw)
        gradient, hessian = weighted_derivatives(fitter.loss, fitter.rows.y, raw, read_weights(matrix, len(host)))
        return gradient.reshape(np.shape(scores)), hessian.reshape(np.shape(scores))

    def evaluate(self, scores: Array, matrix: Any) -> tuple[str, float]:
        """Name and weighted mean of the loss at the sum of both parts, for any matrix of the training."""
        host, training = as_columns(scores), self._trainings.of_training_matrix(matrix)
        if training is not None:
            cosines = training.raw
        else:
            training = self._trainings.of_evaluation_matrix(matrix)
            cosines = self._cosine_sum(matrix).update(training.terms, training.lengths)
        loss, raw = training.fitter.loss, training.total(host, cosines)
        value = mean_loss(loss, read_targets(matrix, loss), raw, read_weights(matrix, len(host)))
        return LOSSES.name_of(self.loss), value

    def bind(self, booster: Any) -> BaseRFFBoost:
        """The trained booster and the cosines as one fitted estimator.

        Parameters
        ----------
        booster : Booster
            The booster trained with this objective. After early stopping, only rounds up to the best are used.

        Returns
        -------
        RFFBoostClassifier or RFFBoostRegressor
            Fitted: for prediction, pickle, and ONNX export as one graph.

        Raises
        ------
        ValueError
            If nothing was trained, or the booster is from another training (checked if the host returns its rows),
            does not start at its first round, changes earlier trees (dart) or averages them (rf).
        """
        if not len(self._trainings):
            raise ValueError("bind: nothing was trained with this CosineObjective; pass it to train() first")
        return self._trainings.first_that_fits(lambda training: self._bind(booster, training))

    def _bind(self, booster: Any, training: CosineTraining) -> BaseRFFBoost:
        """The booster and the cosines of a training, or a ValueError if it comes from another one."""
        trees, n_features = self._read_trees(booster, training)
        if len(trees) > training.n_calls:
            raise ValueError(
                f"bind: the booster has {len(trees)} rounds, the training of this objective {training.n_calls}: "
                f"it comes from another training"
            )
        training.trace.require_trees(trees)
        ensemble, names, fitter = (
            training.ensemble(trees, self.every),
            self._feature_names(booster),
            training.fitter,
        )
        rows = Dataset(fitter.design.original, fitter.rows.y, fitter.rows.weight)
        importances = defer_importances(rows, self.random_state, fitter.loss)
        return fitted(
            ensemble, fitter.loss, n_features, learner=self.learner, names=names, importances=importances
        )

    def _start_training(self, host: Array, matrix: Any) -> CosineTraining:
        X, weight = self._cosine_sum(matrix).X, read_weights(matrix, len(host))
        if (host != host[0]).any():
            raise ValueError(
                "CosineObjective: the training must start from constant scores, without a base margin or "
                "init_score per row and without an earlier model; to continue a model use init_model in fit"
            )
        if not (weight > 0.0).all():
            raise ValueError(
                f"CosineObjective: weights must be positive, got {weight.min():g}; leave such rows out"
            )
        y = read_targets(matrix, self.loss)
        require_whole_groups(self.loss, y, matrix)
        n_classes = n_classes_of_scores(self.loss, y, host.shape[1])
        loss, baseline = prepare_for_training(self.loss, y, weight, n_classes)
        mean, scale = mean_and_scale(X, weight, np.inf)
        clipping = ClipAndLog.only_imputing(mean)
        if self.extrapolation == "constant":
            clipping = replace(fit_clipping(X), means=mean)
        design = Design(X, mean, scale, count_threads(self.n_jobs), clipping=clipping)
        step, rows = self._shrunk_step(loss, len(baseline)), evenly_spaced_rows(len(host))
        fitter = RoundFitter(design, Observations(y, weight), loss, self.learner, step, self.random_state)
        trace = ScoreTrace(rows, self._tree_inputs(matrix, rows))
        return CosineTraining(fitter, host[0].copy(), baseline, np.zeros_like(host), trace)

    def _shrunk_step(self, loss: Loss, n_outputs: int = 1) -> Step:
        """The step for a loss, or a ValueError if the parts are incompatible."""
        step = default_step(loss, self.learner) if isinstance(self.step, str) else self.step
        check_composition(loss, self.learner, step, n_outputs)
        return Shrunk(step, self.learning_rate)

    def _cosine_sum(self, matrix: Any) -> CosineSum:
        if matrix not in self._sums:
            self.attach(matrix, self._features(matrix))
        return self._sums[matrix]

    def __getstate__(self) -> dict[str, Any]:
        # Matrices cannot be pickled; the trained state can, and can still be bound.
        return self.__dict__ | {"_sums": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _sums=WeakKeyDictionary())


def require_features(X: Array, n_samples: int) -> None:
    """Raise a ValueError unless X is (n_samples, d) and finite."""
    if X.ndim != 2 or len(X) != n_samples:
        raise ValueError(f"CosineObjective: X must have shape ({n_samples}, d), got {X.shape}")
    if not np.isfinite(X).all():
        raise ValueError(
            "CosineObjective: features must be finite for cosines, got NaN or infinity; impute missing values "
            "before building the matrix"
        )


def require_same_features(found: Array, X: Array) -> None:
    """Raise a ValueError unless X equals the features found in a matrix up to rounding."""
    if not np.allclose(found, X, rtol=1e-6, atol=0.0):
        i, j = (index[0] for index in np.nonzero(~np.isclose(found, X, rtol=1e-6, atol=0.0)))
        raise ValueError(
            f"CosineObjective: X must hold the features of the matrix, got {X[i, j]:g} instead of {found[i, j]:g} "
            f"in row {i}, column {j}: trees and cosines must use the same features, so build the matrix of "
            f"imputed ones"
        )
