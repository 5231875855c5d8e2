"""Early stopping for a whole fit: which rows are held out, and how models are combined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .callbacks import Callback
from .core import Array, Learner, Loss
from .early_stopping import Patience
from .ensemble import Ensemble, weighted_sum
from .notices import warn_user
from .training import Index, Rows, Stopped, Trainer

# Minimum and maximum size of the validation set.
LEAST_HELD_OUT, MOST_HELD_OUT = 20, 20_000
# Up to this number of rows each of them matters, and models are quick to train.
FEW = 3_000
# Models that are averaged may have this many times the rounds that are best for each: noise averages out. Over 436
# fits of 15 small sets the log loss changes by -0.0009 (standard error 0.0002), accuracy by +0.01 points (0.03),
# the time by 1.0.
BEYOND = 1.25
# Models of a smaller weight are dropped from a stack.
LEAST_WEIGHT = 1e-3
# Where all models are nearly right, their change from the start says little of what tells them apart. With this
# the squared error of four functions without noise falls by 0.3 (geometric mean of 8 fits), losses on 25 real sets
# change by 0.1 % (50 fits).
APART = 16.0
# The index of all rows, without a copy of them.
EVERY = slice(None)


def folds_for(n_samples: int, stacks: bool, always: bool = False) -> int:
    """The default number of folds: several with few rows, or `always`, else 1."""
    several = always or n_samples <= FEW
    suitable = (5 if stacks else 4) if several else 1
    return max(1, min(suitable, n_samples // 2))


@dataclass(frozen=True)
class Found:
    """The result of early stopping.

    Parameters
    ----------
    ensemble : Ensemble
    scores : ndarray of shape (T + 1,)
        The held-out loss of the first learner's models before and after every round, on the mean over folds.
    learners : list of Learner
        The kinds of models in the ensemble.
    weight : ndarray of shape (m,)
        The weight of each kind, of sum 1.
    n_folds : int
        Models of each kind, of which each held out its own rows.
    """

    ensemble: Ensemble
    scores: Array
    learners: list[Learner]
    weight: Array
    n_folds: int


@dataclass(frozen=True)
class Plan:
    """How a fit uses early stopping.

    Parameters
    ----------
    n_folds : int
        Number of models of a division, each of which holds out its own rows; the average of all is the result.
        Each has `BEYOND` times the rounds that are best for it, as far as it was trained.
    fraction : float
        Share of rows that a single model holds out.
    refit : bool
        Whether the result is instead one model fitted to all rows, with the mean number of rounds, scaled up with
        the number of rows; in a stack, one of each kind whose trainer ``refits``.
    n_estimators : int
        Maximum number of rounds of a model, those of an initial one included.
    patience : Patience
        Rounds without improvement after which a fit ends.
    tol : float
        Smallest decrease that counts as an improvement, as a share of the loss before the first round.
    n_repeats : int, default=1
        How often the rows are divided into folds, each time at random.
    """

    n_folds: int
    fraction: float
    refit: bool
    n_estimators: int
    patience: Patience
    tol: float
    n_repeats: int = 1

    def fit(
        self,
        trainers: Sequence[Trainer],
        rows: Rows,
        held: Rows | None,
        seed: int,
        callbacks: Sequence[Callback],
        init: Ensemble | None,
    ) -> Found:
        """The model of the trainers, whose rounds and weights are found on rows that are held out.

        Models of several trainers are weighted by :func:`simplex_weights`, each on rows that it has not seen.
        """
        splits = [(EVERY, held)] if held is not None else self._divisions(rows, seed, trainers[0].loss)
        trainers, fits = self._fits(trainers, splits, rows, callbacks, init)
        models, raw = ([[getattr(run, name) for run in runs] for runs in fits] for name in ("ensemble", "raw"))
        weight = stacked(trainers[0].loss, models[0], raw, [out for _, out in splits])
        used = np.flatnonzero(weight).tolist()
        weight, models = weight[used], [models[k] for k in used]
        if held is None and self.refit:
            more = len(rows) / float(np.mean([len(rows.y[kept]) for kept, _ in splits]))
            models = [
                [trainer.again(0).fit(rows, self._length(row, more, init), (), init)] if trainer.refits else row
                for trainer, row in zip([trainers[k] for k in used], models, strict=True)
            ]
        scores = joined([run.scores for run in fits[0]])
        if init is not None and held is None and len(scores) > 2:
            warn_of_seen(len(init), max(len(model) for row in models for model in row))
        shares = np.array([share / len(row) for share, row in zip(weight, models, strict=True) for _ in row])
        ensemble = weighted_sum([model for row in models for model in row], shares)
        return Found(ensemble, scores, [trainers[k].learner for k in used], weight, len(splits))

    def _fits(
        self,
        trainers: Sequence[Trainer],
        splits: Sequence[tuple[Index, Rows]],
        rows: Rows,
        callbacks: Sequence[Callback],
        init: Ensemble | None,
    ) -> tuple[list[Trainer], list[list[Stopped]]]:
        """The trainers whose models are wanted, and a model of each for each split."""
        beyond = BEYOND if len(splits) > 1 and not self.refit else 1.0
        rules = self.n_estimators, self.patience, self.tol, callbacks, init, beyond
        used: list[Trainer] = []
        fits: list[list[Stopped]] = []
        for trainer in trainers:
            runs: list[Stopped] = []
            for k, (kept, out) in enumerate(splits):
                if trainer.demand is None or trainer.demand.is_met(runs, fits):
                    # Rows are copied for one model at a time.
                    runs.append(trainer.again(k).fit_stopping(rows.take(kept), out, *rules))
            if len(runs) == len(splits):
                used.append(trainer)
                fits.append(runs)
        return used, fits

    def _length(self, models: Sequence[Ensemble], more: float, init: Ensemble | None) -> int:
        """Rounds of a model of `more` times the rows, those of an initial one included."""
        done = 0 if init is None else len(init)
        new = float(np.mean([len(model) for model in models])) - done
        return min(done + round(more * new), self.n_estimators)

    def _divisions(self, rows: Rows, seed: int, loss: Loss) -> list[tuple[Index, Rows]]:
        """The splits of all divisions into folds."""
        return [split for k in range(self.n_repeats) for split in self._splits(rows, seed + k, loss)]

    def _splits(self, rows: Rows, seed: int, loss: Loss) -> list[tuple[Index, Rows]]:
        """Which rows to fit to, and those to watch of the others."""
        if self.n_folds == 1:
            fold = np.where(held_out(rows, self.fraction, seed), 0, -1)
        else:
            fold = folds(rows, self.n_folds, seed)
        parts = range(self.n_folds)
        spared = np.where(singletons(loss, rows.y), -1, fold)
        if np.isin(parts, spared).all():
            fold = spared
        splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in parts]
        # One fold may hold the only non-zero target, without which a loss cannot be fitted.
        usable = [(kept, out) for kept, out in splits if suits(loss, rows.y[kept], rows.weight[kept])] or splits
        return [(kept, watched(rows.take(out), loss, seed)) for kept, out in usable]


def warn_of_seen(given: int, found: int) -> None:
    """Warn where a fit that was given rounds to go on from has hardly found more, as if they knew all rows."""
    if found <= given + 1:
        warn_user(
            f"early stopping has found {found - given} rounds beyond the {given} that the fit goes on from, of "
            f"init_model or a warm start: these may have seen the rows that it holds out; hand over an eval_set "
            f"of other rows, or set early_stopping=False"
        )


def stacked(
    loss: Loss, models: Sequence[Ensemble], scores: Sequence[Sequence[Array]], held: Sequence[Rows]
) -> Array:
    """A weight for each kind of model, given the raw scores of its k-th models on the k-th held-out rows.

    `models` are those of the first kind.
    """
    if len(scores) == 1:
        return np.ones(1)
    raw = np.stack([np.concatenate(row) for row in scores])
    y, weight = (np.concatenate([getattr(out, name) for out in held]) for name in ("y", "weight"))
    start = np.concatenate([np.tile(m.baseline, (len(out), 1)) for m, out in zip(models, held, strict=True)])
    return simplex_weights(loss, y, weight, raw, start)


def simplex_weights(loss: Loss, y: Array, weight: Array, raw: Array, start: Array) -> Array:
    r"""Non-negative weights (m,) of sum 1 for the best average of m models' raw scores (m, n, C).

    They minimise :math:`\ell(v) / s + \frac{10}{n} \sum_k (v_k - 1/m)^2`: the weighted mean loss, in units s of
    the mean absolute change of row losses from `start` to the plain average, or `APART` times that from a model to
    it, if this is less, and a penalty that keeps the weights equal unless the rows say otherwise. Neither depends
    on the unit of the target. Weights below `LEAST_WEIGHT` become 0.

    Parameters
    ----------
    loss : Loss
    y : ndarray of shape (n, C)
        Targets of held-out rows.
    weight : ndarray of shape (n,)
        Sample weights.
    raw : ndarray of shape (m, n, C)
        Raw scores of the models.
    start : ndarray of shape (n, C)
        Raw scores before the first round: the models' baseline.

    Returns
    -------
    ndarray of shape (m,)
    """
    from scipy.optimize import minimize

    m, n = raw.shape[:2]
    equal = np.full(m, 1.0 / m)
    plain = loss.value(y, raw.mean(axis=0))
    change = np.average(np.abs(plain - loss.value(y, start)), weights=weight)
    apart = np.mean([np.average(np.abs(plain - loss.value(y, one)), weights=weight) for one in raw])
    size = min(change, APART * apart)
    if not size > 0.0:
        return equal
    known = np.average(plain, weights=weight)

    def objective(v: Array) -> tuple[float, Array]:
        mixed = np.tensordot(v, raw, 1)
        value = np.average(loss.value(y, mixed), weights=weight) - known
        gradient, _ = loss.derivatives(y, mixed)
        slope = np.einsum("kic,ic,i->k", raw, gradient, weight) / weight.sum()
        uneven = v - equal
        return float(value / size + 10.0 / n * np.square(uneven).sum()), slope / size + 20.0 / n * uneven

    within = {"bounds": [(0.0, 1.0)] * m, "constraints": {"type": "eq", "fun": lambda v: v.sum() - 1.0}}
    found = minimize(objective, equal, jac=True, method="SLSQP", **within).x.clip(0.0)
    found[found < LEAST_WEIGHT * found.sum()] = 0.0
    return np.asarray(found / found.sum())


def joined(scores: Sequence[Array]) -> Array:
    """The mean of curves of different lengths; one that has ended is continued with its best value."""
    longest = max(map(len, scores))
    return np.mean([np.append(curve, np.full(longest - len(curve), curve.min())) for curve in scores], axis=0)


def suits(loss: Loss, y: Array, weight: Array) -> bool:
    """Whether a loss can be fitted to these targets alone."""
    try:
        loss.prepared(y, weight)
    except ValueError:
        return False
    return True


def along_target(rows: Rows, seed: int) -> Array:
    """The rows in the order of their targets, of several of the first; those of equal target in random order."""
    order = np.random.default_rng(seed).permutation(len(rows))
    return order[np.argsort(rows.y[order, 0], kind="stable")]


def folds(rows: Rows, n_folds: int, seed: int) -> Array:
    """The fold of each row, (n,), stratified by class, or along the range of a real target."""
    fold = np.empty(len(rows), dtype=np.int64)
    fold[along_target(rows, seed)] = np.arange(len(rows)) % n_folds
    return fold


def singletons(loss: Loss, y: Array) -> Array:
    """Which rows (n,) are the only ones of their class: without them a model would give it probability 0."""
    if loss.task != "classification":
        return np.zeros(len(y), dtype=bool)
    _, codes, counts = np.unique(y[:, 0], return_inverse=True, return_counts=True)
    return np.asarray(counts[codes] == 1)


def watched(held: Rows, loss: Loss, seed: int) -> Rows:
    """What early stopping looks at of the held-out rows: at most about `MOST_HELD_OUT`, weighted for all."""
    if len(held) <= MOST_HELD_OUT:
        return held
    chances = held.probabilities(loss, loss.baseline(held.y, held.weight), MOST_HELD_OUT)
    return held.drawn(np.random.default_rng([seed, 1]), chances, MOST_HELD_OUT)


def held_out(rows: Rows, fraction: float, seed: int) -> Array:
    """Which rows (n,) to hold out: a systematic sample along the target, so that classes have their share.

    Of few rows at least `LEAST_HELD_OUT` (or half of them) are held out.
    """
    n = len(rows)
    size = max(int(fraction * n), min(LEAST_HELD_OUT, n // 2))
    place = (np.arange(size) + np.random.default_rng(seed).random()) * (n / size)
    held = np.zeros(n, dtype=bool)
    held[along_target(rows, seed)[place.astype(np.int64)]] = True
    return held
