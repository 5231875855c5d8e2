"""Cosines fitted inside another library's training loop, in addition to its trees."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse

from ..boosting.early_stopping.monitor import MeanLoss
from ..boosting.loop import Parts, RoundFitter, Shrunk
from ..boosting.steps import STEPS
from ..core import Learner, Loss, Step
from ..estimators.base import BaseRFFBoost
from ..inspection.importance import sample_of_fit
from ..learners.design import Design
from ..learners.registry import LEARNERS
from ..losses.registry import LOSSES
from ..rows.dataset import Dataset
from ..rows.feature_expansion import fit_clipping, mean_and_scale
from ..terms import ClipAndLog, FeatureMap
from ..utils.parallel import count_threads
from ..utils.param_validation import EXTRAPOLATION, POSITIVE, THREADS, Check, Integer, is_auto, require_all
from ..utils.typing import Array
from .cosine_training import CosineSum, CosineTraining, Trainings
from .host import host_of
from .models import NO_MODEL, fitted
from .objectives import checked_loss, matrix_host, read_targets, require_whole_groups, rows_of_matrix
from .score_conversion import (
    as_columns,
    n_classes_of_scores,
    prepare_for_training,
    score_of_rows,
    weighted_in_units,
)


class CosineObjective:
    """A loss as an objective that adds cosines to the host's trees.

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
        Threads for cosines, as those of an estimator.

    Raises
    ------
    ValueError, TypeError
        If a parameter or a part is invalid or two parts are incompatible. In training: if the loss does not accept
        the labels, the features are unavailable, categorical or not finite, weights are not positive, or the
        training does not start from constant scores.

    Notes
    -----
    It is ``obj`` of ``xgboost.train``, with ``custom_metric=hybrid.metric``, or ``params["objective"]`` of
    ``lightgbm.train``, with ``feval=hybrid.metric``. LightGBM frees the features of a Dataset: construct it with
    ``free_raw_data=False``, or provide them by ``attach(data, X)``.

    Examples
    --------
    >>> import numpy as np, xgboost
    >>> from rffboost_ext.interop import xgboost as rxgb
    >>> X = np.random.default_rng(0).normal(size=(200, 3))
    >>> matrix = xgboost.DMatrix(X, np.sin(2.0 * X[:, 0]) > 0.0)
    >>> hybrid = rxgb.CosineObjective("log_loss")
    >>> booster = xgboost.train({"max_depth": 2}, matrix, 20, obj=hybrid)
    >>> hybrid.bind(booster).predict_proba(X).shape
    (200, 2)
    """

    constraints: ClassVar[dict[str, Check]] = {
        "every": Integer(1),
        "learning_rate": POSITIVE,
        "extrapolation": EXTRAPOLATION,
        "random_state": Integer(0),
        "n_jobs": THREADS,
    }

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
        self.learning_rate, self.every, self.random_state, self.n_jobs = learning_rate, every, random_state, n_jobs
        self.extrapolation = extrapolation
        require_all(self, self.constraints)
        self.loss, self.learner = LOSSES.create(loss), LEARNERS.create(learner)
        self.step = step if is_auto(step) else STEPS.create(step)
        self._shrunk_step(self.loss)
        self._trainings = Trainings()

    def attach(self, matrix: Any, X: Any) -> None:
        """Provide the features of a matrix that does not return them.

        Parameters
        ----------
        matrix : DMatrix or Dataset
            For training or for evaluation.
        X : array-like or sparse matrix of shape (n, d)
            Its features, finite: those that the trees use. An absent entry is 0.

        Raises
        ------
        ValueError
            If X is not finite or has another number of rows.
        """
        X = np.asarray(X.toarray("C") if issparse(X) else X)
        X = X if X.dtype == np.float32 else X.astype(np.float64)
        n_samples = len(read_targets(matrix, self.loss))
        if X.ndim != 2 or len(X) != n_samples or not np.isfinite(X).all():
            raise ValueError(
                f"CosineObjective: features must be finite, of shape ({n_samples}, d), got shape {X.shape} with "
                f"{np.sum(~np.isfinite(X))} missing or infinite values: impute them before building the matrix"
            )
        self._trainings.sums[matrix] = CosineSum(X, np.zeros((len(X), 1)))

    def __call__(self, scores: Array, matrix: Any) -> tuple[Array, Array]:
        """Add a cosine if one is due, and return the derivatives for the next tree, in the shape of `scores`."""
        host, _ = as_columns(scores), matrix_host(matrix)
        training = self._trainings.of_training_matrix(matrix)
        if training is None:
            training = self._start_training(host, matrix)
            self._trainings.add(matrix, training)
        training.start_round(host)
        if (training.n_calls - 1) % self.every == 0:
            training.add_cosine(host)
        fitter, raw = training.fitter, training.total(host, training.raw)
        gradient, hessian = weighted_in_units(fitter.parts.loss, fitter.rows, raw)
        return gradient.reshape(np.shape(scores)), hessian.reshape(np.shape(scores))

    def metric(self, scores: Array, matrix: Any) -> tuple[Any, ...]:
        """Name and mean loss at the sum of both parts, for any matrix of the training, as for early stopping.

        For LightGBM also False, as lower is better.
        """
        host, training = as_columns(scores), self._trainings.of_training_matrix(matrix)
        if training is not None:
            cosines = training.raw
        else:
            training = self._trainings.of_evaluation_matrix(matrix)
            evaluated = self._cosine_sum(matrix)
            if not evaluated.n_terms:
                loss = training.fitter.parts.loss
                checked_loss(loss, matrix, rows_of_matrix(matrix, loss), training.total(host, 0.0 * host))
            cosines = evaluated.update(training.terms, training.lengths)
        loss, raw = training.fitter.parts.loss, training.total(host, cosines)
        value = score_of_rows(MeanLoss(loss), rows_of_matrix(matrix, loss), raw)
        return LOSSES.name_of(self.loss), value, *matrix_host(matrix).metric_direction

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
        if not self._trainings.started:
            raise ValueError("bind: nothing was trained with this CosineObjective; pass it to train() first")
        for training in self._trainings.started[:-1]:
            try:
                return self._bind(booster, training)
            except ValueError:
                continue
        return self._bind(booster, self._trainings.started[-1])

    def _bind(self, booster: Any, training: CosineTraining) -> BaseRFFBoost:
        """The booster and the cosines of a training, or a ValueError if it comes from another one."""
        host = host_of(booster, NO_MODEL)
        trees = host.rounds(booster, training.tree_grown)
        training.require_trees(trees)
        host_model, fitter = host.read(booster), training.fitter
        rows = Dataset(fitter.design.original, fitter.rows.y, fitter.rows.weight)
        ensemble = training.ensemble(trees, self.every)
        model = fitted(host_model, ensemble, fitter.parts.loss, learner=self.learner)
        model._sample = sample_of_fit(rows, self.random_state, fitter.parts.loss)
        return model

    def _start_training(self, host: Array, matrix: Any) -> CosineTraining:
        X, rows = self._cosine_sum(matrix).X, rows_of_matrix(matrix, self.loss)
        if (host != host[0]).any():
            raise ValueError(
                "CosineObjective: the training must start from constant scores, without a base margin or "
                "init_score per row and without an earlier model; to continue a model use init_model in fit"
            )
        if not (rows.weight > 0.0).all():
            raise ValueError(
                f"CosineObjective: weights must be positive, got {rows.weight.min():g}; leave such rows out"
            )
        require_whole_groups(self.loss, rows.y, matrix)
        loss, baseline = prepare_for_training(
            self.loss, rows, n_classes_of_scores(self.loss, rows.y, host.shape[1])
        )
        mean, scale = mean_and_scale(X, rows.weight, np.inf)
        clipping = ClipAndLog.only_imputing(mean)
        if self.extrapolation == "constant":
            clipping = replace(fit_clipping(X), means=mean)
        design = Design(X, FeatureMap(None, clipping, mean, scale), count_threads(self.n_jobs))
        parts = Parts(loss, self.learner, self._shrunk_step(loss, len(baseline)))
        fitter = RoundFitter(design, rows, parts, self.random_state)
        return CosineTraining(fitter, host[0].copy(), baseline, np.zeros_like(host))

    def _shrunk_step(self, loss: Loss, n_outputs: int = 1) -> Step:
        """The step for a loss, or a ValueError if the parts are incompatible."""
        parts = Parts(loss, self.learner, None if isinstance(self.step, str) else self.step)
        return Shrunk(parts.checked(n_outputs).step, self.learning_rate)

    def _cosine_sum(self, matrix: Any) -> CosineSum:
        if matrix not in self._trainings.sums:
            host = matrix_host(matrix)
            X = host.features(matrix)
            if X is None:
                raise ValueError(f"CosineObjective: {host.features_advice}")
            self.attach(matrix, X)
        return self._trainings.sums[matrix]

    def __deepcopy__(self, memo: dict[int, Any]) -> CosineObjective:
        # lightgbm.train works on a deep copy of its parameters; the learned state must be in this object.
        return self
