"""Boosting over support vector machines of several kernels: BMKR and MKBoost."""

from __future__ import annotations

import math
import warnings
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from rffboost_ext.boosting.callbacks import Progress
from rffboost_ext.boosting.steps import LARGEST_CORRELATION
from rffboost_ext.core import Learner, Round, Term
from rffboost_ext.estimators.policies import LEARNER_POLICIES, LearnerPolicy
from rffboost_ext.losses.classification import signed_labels
from rffboost_ext.losses.wrapper import LossWrapper
from rffboost_ext.utils.param_validation import OPTIONAL, POSITIVE, Real
from rffboost_ext.utils.typing import Array

from .feature_map import LIBSVM_ITERATIONS
from .kernel_terms import Kernel, KernelSum, Votes, rbf_kernels, votes

GRAM_ROWS = 4_000
"""Up to this many rows a fit keeps one Gram matrix per kernel, at most 128 MB each."""

BMKR_KERNELS = (*rbf_kernels(-4, 5), Kernel("linear"))
"""Ten Gaussian kernels and the linear one, as in the experiments of Gautheron et al."""
MKBOOST_KERNELS = (
    *rbf_kernels(-6, 7),
    *(Kernel("poly", degree=degree, coef0=1.0) for degree in (1, 2, 3)),
)
"""Fourteen Gaussian kernels and the polynomials ``(1 + x . x')^degree`` of degree 1, 2, 3."""


class BestKernel(Learner):
    """Fits one support vector machine per kernel and keeps the best."""

    constraints = {"C": POSITIVE}
    C: float
    kernels: Sequence[Kernel]

    def validate(self) -> None:
        """Raise unless the parameters are valid and there is at least one kernel."""
        super().validate()
        if not self.kernels or not all(isinstance(kernel, Kernel) for kernel in self.kernels):
            raise ValueError(f"{type(self).__name__}: kernels must be a sequence of Kernel, got {self.kernels!r}")

    def fit(self, round: Round) -> tuple[Term, Array]:
        """The term of the best kernel, the first of equals, and its outputs."""
        return min(self.candidates(round), key=lambda candidate: self.error(round, candidate[1]))

    @abstractmethod
    def candidates(self, round: Round) -> Iterator[tuple[Term, Array]]:
        """For each kernel, a fitted term and its output on the rows, (n, 1)."""

    @abstractmethod
    def error(self, round: Round, output: Array) -> float:
        """How badly an output, (n, 1), fits the round."""


# A solver that stops early treats a weight of 2 and a repeated row differently.
LEARNER_POLICIES[BestKernel] = LearnerPolicy(max_merged_rows=lambda learner: math.inf)


@dataclass(eq=False, repr=False)
class BestSVR(BestKernel):
    """The support vector regression, of several kernels, with the least squared error on the residuals.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty.
    kernels : sequence of Kernel, default=BMKR_KERNELS
        The kernels tried in each round.

    Notes
    -----
    The solver stops after 10,000 iterations without a warning, as in the published experiments: a round need not
    be optimal, the next one fits what it left.
    """

    C: float = 1.0
    kernels: Sequence[Kernel] = BMKR_KERNELS

    def candidates(self, round: Round) -> Iterator[tuple[Term, Array]]:
        from sklearn.svm import SVR

        rows = np.arange(len(round.weight))
        for kernel in self.kernels:
            machine = SVR(C=self.C, max_iter=LIBSVM_ITERATIONS)
            yield trained(machine, kernel, round, rows, round.residual[:, 0], round.weight)

    def error(self, round: Round, output: Array) -> float:
        error = round.residual - output
        return round.inner(error, error)


@dataclass(eq=False, repr=False)
class BestSVC(BestKernel):
    """The support vector classifier, of several kernels, with the least error under the weights of boosting.

    Outputs are -1 and 1. The weights are the hessians, which for the exponential loss are AdaBoost's.

    Parameters
    ----------
    C : float, default=1.0
        Inverse strength of the penalty.
    kernels : sequence of Kernel, default=MKBOOST_KERNELS
        The kernels tried in each round.
    subsample : float or None, default=1.0
        Each round trains on rows drawn with replacement by the weights, this many times n; the error is taken
        over all rows. None trains on all rows with their weights. The heaviest row of each class is always in.
    """

    C: float = 1.0
    kernels: Sequence[Kernel] = MKBOOST_KERNELS
    subsample: float | None = 1.0

    bounded = True
    constraints = {"C": POSITIVE, "subsample": Real(0.0) | OPTIONAL}

    def candidates(self, round: Round) -> Iterator[tuple[Term, Array]]:
        from sklearn.svm import SVC

        labels, weight = signed_labels(round.y[:, 0]), boosting_weights(round)
        rows = np.arange(len(labels))
        if self.subsample is not None:
            rows, weight = drawn_rows(round.rng, labels, weight, self.subsample)
        for kernel in self.kernels:
            machine = SVC(C=self.C, max_iter=LIBSVM_ITERATIONS)
            voter, output = trained(machine, kernel, round, rows, labels[rows], weight)
            yield Votes((voter,), np.ones(1)), votes(output)

    def error(self, round: Round, output: Array) -> float:
        return float(boosting_weights(round)[signed_labels(round.y[:, 0]) != output[:, 0]].sum())


class FromZero(LossWrapper):
    """Another loss, from raw scores of 0 instead of the best constant: AdaBoost starts from equal weights.

    Parameters
    ----------
    loss : Loss
        The inner loss.
    """

    def baseline(self, y: Array, weight: Array) -> Array:
        return np.zeros_like(self.loss.baseline(y, weight))


def drawn_rows(rng: np.random.Generator, labels: Array, weight: Array, subsample: float) -> tuple[Array, Array]:
    """Unique rows to train on, and their counts: as drawn, plus one for the heaviest row of each label."""
    n = len(labels)
    drawn = rng.choice(n, math.ceil(subsample * n), p=weight / weight.sum())
    heaviest = [np.flatnonzero(labels == s)[weight[labels == s].argmax()] for s in (-1.0, 1.0)]
    rows, times = np.unique(np.concatenate([drawn, heaviest]), return_counts=True)
    return rows, times.astype(np.float64)


def boosting_weights(round: Round) -> Array:
    """The rows' weights in boosting, (n,), of mean 1; the sample weights where all have vanished."""
    weight = round.weight * round.hessian[:, 0]
    weight = weight if weight.sum() > 0.0 else round.weight
    return weight * (len(weight) / weight.sum())


def gram(round: Round, kernel: Kernel) -> Array:
    """The kernel's values for all pairs of rows, (n, n); computed once per fit."""
    X = round.design.X
    return round.design.cache(("gram", kernel), lambda: kernel(X, X))


def trained(
    machine: Any, kernel: Kernel, round: Round, rows: Array, y: Array, weight: Array
) -> tuple[KernelSum, Array]:
    """The term of a support vector machine, and its output on all rows, (n, 1).

    The `machine` is fitted to the rows of these ascending indices (m,), with targets y and weights (m,).
    """
    X = round.design.X
    if len(X) > GRAM_ROWS:
        fit(machine.set_params(**asdict(kernel)), X[rows], y, weight)
    else:
        K = gram(round, kernel)
        fit(
            machine.set_params(kernel="precomputed"),
            K if len(rows) == len(K) else K[np.ix_(rows, rows)],
            y,
            weight,
        )
    support = rows[machine.support_]
    term = KernelSum(kernel, X[support], machine.dual_coef_[0], float(machine.intercept_[0]))
    if len(X) > GRAM_ROWS:
        return term, term(X)
    return term, (K[:, support] @ term.weight + term.intercept)[:, None]


def fit(machine: Any, X: Array, y: Array, weight: Array) -> None:
    """Fit without the warning that the solver stopped early."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        machine.fit(X, y, sample_weight=weight)


def perfect(progress: Progress) -> bool:
    """Whether the round's term was right on every row: AdaBoost ends there."""
    return progress.length >= progress.round.shrinkage * np.arctanh(LARGEST_CORRELATION)
