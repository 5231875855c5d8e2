"""The vocabulary: what a loss, a term, a learner, a step, an optimizer and a round are, and their laws.

Throughout, n counts samples, d features, C outputs and M cosines. Scores before the link are called *raw*
and are always two-dimensional, (n, C); so are targets, (n, 1) or (n, C). A :class:`Spec` holds hyperparameters
only; a result is a frozen dataclass that holds arrays only. Parts must treat the arrays that they are given as
read-only: the loop owns them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Protocol, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from .utils.param_validation import Check, allows_auto, require_all
from .utils.registry import Registry, resolve_names
from .utils.typing import Array

V = TypeVar("V")
T = TypeVar("T", bound="Term")
S = TypeVar("S", bound="Spec")


class DesignLike(Protocol):
    """Features of the rows of a round, in each layout that a learner reads; see :class:`~rffboost_ext.Design`."""

    original: Array
    n_jobs: int
    precision: str
    center: Array | None
    scale: Array | None
    expansion: Any
    clipping: Any

    @property
    def n_samples(self) -> int:
        """Number of rows, n."""

    @property
    def n_features(self) -> int:
        """Number of columns of ``X``."""

    @property
    def X(self) -> Array:
        """Standardised features, (n, d)."""

    @property
    def tiles(self) -> Any:
        """The same as the compiled passes read them."""

    def cache(self, key: Hashable, build: Callable[[], V]) -> V:
        """What was built under `key` in this fit, built on first use."""

    def learner_state(self, key: Hashable, build: Callable[[], V]) -> V:
        """The same, shared by designs of other rows."""

    def cache_output(self, term: Term, output: Array) -> None:
        """Cache the output of the newest term on these rows."""

    def output(self, term: Term) -> Array:
        """Outputs of `term` on these rows, (n, C)."""

    def restore(self, term: Term) -> Term:
        """The same function as a term of the original features."""


class Spec(BaseEstimator):
    """A part of a booster: hyperparameters, no data.

    ``get_params``, ``clone``, ``repr`` and nested names such as ``learner__gamma`` come from scikit-learn.
    A spec is never changed by a fit, so one instance may serve many fits at once.
    """

    constraints: ClassVar[Mapping[str, Check]] = {}
    """Allowed values of each hyperparameter; checked before any work is done."""

    needs: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Attributes that the other parts must provide, by role: ``{"loss": ["bounded_ratio"]}``."""

    roles: ClassVar[Mapping[str, Registry[Any]]] = {}
    """Hyperparameters that are parts themselves, given as an instance or by a registered name."""

    def validate(self) -> None:
        """Raise a TypeError or ValueError that names the first hyperparameter out of range."""
        require_all(self, self.constraints)
        for role, registry in self.roles.items():
            part = getattr(self, role)
            if not (isinstance(part, str) and part == "auto" and allows_auto(type(self), role)):
                registry.create(part)

    def set_params(self: S, **params: Any) -> S:
        """Set hyperparameters, including nested ones, also of a part that is given by name."""
        return super().set_params(**resolve_names(self, params, self.roles))


class Link(ABC):
    """The function between raw scores and the response, such as log or logit: a frozen dataclass."""

    @abstractmethod
    def inverse(self, raw: Array) -> Array:
        """Response for raw scores (n, C): class probabilities (n, K), or means (n, C) for regression."""


class Loss(Spec, ABC):
    """What a booster minimises: a function of target and raw score, summed over rows.

    A custom loss implements the three abstract methods in plain NumPy, and defines either ``link`` or
    ``inverse_link``; for classification it sets ``task``. Nothing needs to be compiled.

    Laws (tested over the registry): the gradient is the derivative of ``value`` with respect to the raw score, the
    hessian its second derivative where ``exact_hessian``, else a positive bound; both have the shape of ``raw``;
    the baseline minimises the weighted sum of ``value`` over constant scores. For a binary classification loss the
    second class is predicted where raw > 0: its probability there is more than 1/2. No method changes the arrays
    that it is given.
    """

    link: ClassVar[Link | None] = None
    """The link between raw scores and the response; ONNX export needs it."""
    task: ClassVar[str] = "regression"
    """``"classification"`` (targets are class indices 0 .. K-1) or ``"regression"`` (targets are real)."""
    fit_criterion: ClassVar[str] = "newton"
    """The registered fit criterion that learners use for this loss by default."""
    exact_hessian: ClassVar[bool] = True
    """Whether ``derivatives`` yields the second derivative itself, rather than an upper bound on it."""
    bounded_ratio: ClassVar[bool] = False
    """Whether \\|gradient\\| <= hessian everywhere, as the confidence-rated step needs."""
    multiclass: ClassVar[bool] = False
    """For classification: whether it, or the loss that ``prepared`` returns, allows more than two classes."""
    multi_output: ClassVar[bool] = False
    """For regression: whether the target may have several columns, each with a raw score of its own."""
    positive: ClassVar[bool] = False
    """For regression: whether the loss accepts only positive, or only non-negative, targets."""
    unit: float | str | Sequence[float] = 1.0
    """Factor applied to gradient and hessian in a fit so that hessians are O(1) whatever the scale of the target.

    Minimisers and Newton steps do not depend on it; the strength of learners' penalties, such as that on leaf
    values, does. It may be a hyperparameter of the loss: ``"auto"`` is then replaced by a number when the loss is
    prepared. A loss of several outputs may have one unit per output.
    """

    def prepared(self, y: Array, weight: Array, n_classes: int | None = None) -> Loss:
        """The loss with its data-dependent parameters set from the target: a scale, or a number of classes.

        Called once per fit, on all of its targets and before any work; the result is what is minimised. Laws: a
        prepared loss prepares to itself; so does a loss without such parameters, the default.

        Parameters
        ----------
        y : ndarray of shape (n, 1) or (n, C)
            The target, as the other methods get it.
        weight : ndarray of shape (n,)
            Sample weights, positive.
        n_classes : int, optional
            Number of classes, at least 2, if known; otherwise all class indices up to the largest occur in y.

        Returns
        -------
        Loss

        Raises
        ------
        ValueError
            If the loss does not accept such targets.
        """
        return self

    def check_target(self, y: Array) -> None:
        """Raise a ValueError if y has values that the loss does not accept, in training or evaluation data."""

    @abstractmethod
    def value(self, y: Array, raw: Array) -> Array:
        """Loss of each row, (n,)."""

    @abstractmethod
    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        """First and second derivatives of ``value`` with respect to ``raw``, (n, C) each, without weights.

        They are new arrays: `y` and `raw` must stay as they are.
        """

    @abstractmethod
    def baseline(self, y: Array, weight: Array) -> Array:
        """The constant raw score, (C,), that minimises the weighted loss."""

    def inverse_link(self, raw: Array) -> Array:
        """Response for raw scores, by default ``link.inverse(raw)``: probabilities (n, K), or means (n, C)."""
        if self.link is None:
            raise NotImplementedError(f"loss {self!r} must define 'link' or 'inverse_link'")
        return self.link.inverse(raw)


class Term(ABC):
    """A function from X (n, d) to outputs (n, C), as frozen arrays: what a learner returns.

    Laws: ``t.scaled(a)(X) == a * t(X)``; ``type(t).stack([s, t])(X) == s(X) + t(X)`` for s and t of one family.
    """

    @abstractmethod
    def __call__(self, X: Array) -> Array:
        """Outputs, (n, C)."""

    @abstractmethod
    def scaled(self: T, factor: float) -> T:
        """The same function times `factor`."""

    @classmethod
    @abstractmethod
    def stack(cls: type[T], terms: Sequence[T]) -> T:
        """The sum of `terms`, all of one ``family``, as one term."""

    @property
    def family(self) -> Hashable:
        """Terms of equal family can be stacked; to be overridden if instances differ in more than their arrays."""
        return type(self)

    def features(self, X: Array) -> Array:
        """The learned representation of X, (n, p): the term's outputs, or each of its cosines."""
        return self(X)

    def merged(self) -> Term:
        """The same function with fewer parts, where some of them can be joined; asked of the sum of many terms."""
        return self

    def materialized(self) -> Term:
        """Materialise as plain arrays that can be stored; learners may return a lazy term."""
        return self

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for base in cls.__mro__[1:]:
            if getattr(base, "__final__", False):
                raise TypeError(
                    f"{cls.__name__} must not derive from {base.__name__}, which is final: derive from "
                    f"rffboost_ext.Term, and keep a {base.__name__} as an attribute"
                )


@dataclass(frozen=True)
class Round:
    """The state of one boosting round, to be read only. Row i of each array belongs to row i of ``design``.

    Attributes
    ----------
    design : Design
        The features; ``design.X`` is (n, d), standardised, or (n, e) where gaps or categories are expanded.
    loss : Loss
        The loss that is minimised.
    y, raw : ndarray
        Target, (n, 1) or (n, C), and raw scores so far, (n, C).
    gradient, hessian : ndarray of shape (n, C)
        Derivatives at ``raw`` of ``loss.unit`` times the loss, sample weights not applied.
    weight : ndarray of shape (n,)
        Sample weights; a row of weight 2 counts as two rows.
    index : int
        Number of the round, from 0.
    rng : numpy.random.Generator
        The random generator of this round.
    shrinkage : float
        The fraction of a full step along the term that will be taken, such as the learning rate.
    """

    design: DesignLike
    loss: Loss
    y: Array
    raw: Array
    gradient: Array
    hessian: Array
    weight: Array
    index: int
    rng: np.random.Generator
    shrinkage: float = 1.0

    @property
    def residual(self) -> Array:
        """The negative gradient, (n, C), which the next term should approximate."""
        return -self.gradient

    @property
    def output_weights(self) -> Array | None:
        """Weight of each output in sums over outputs, (C,), if each has its own unit; None if all are equal."""
        unit = self.loss.unit
        return None if isinstance(unit, float) or np.ndim(unit) == 0 else 1.0 / np.asarray(unit)

    @cached_property
    def total_weight(self) -> float:
        """The sum of the sample weights: how many rows of weight 1 the data are equivalent to."""
        return float(self.weight.sum())

    def mean(self, values: Array) -> Any:
        """The weighted mean over rows, which are the last axis of `values`."""
        return values @ self.weight / self.total_weight

    def inner(self, *factors: Array) -> float:
        """The weighted sum over rows and outputs of the product of arrays, (n, C) each."""
        return float(np.einsum("i" + ",ic" * len(factors) + "->", self.weight, *factors))


class Learner(Spec, ABC):
    """Fits one term to the state of a round.

    A learner reads ``round.design.X``, ``round.residual`` (or gradient and hessian), ``round.weight`` and
    ``round.rng``, and returns a term that acts on matrices in the coordinates of ``round.design.X``; it draws
    randomness from ``round.rng`` only.
    """

    step: ClassVar[str | None] = None
    """The registered step that suits the learner's outputs; None leaves the choice to the loss."""
    bounded: ClassVar[bool] = False
    """Whether outputs are within [-1, 1]."""
    multi_output: ClassVar[bool] = False
    """Whether the learner can fit several outputs at once."""
    stops_early: ClassVar[bool] = False
    """Whether estimators use early stopping with this learner by default."""
    pool_size: ClassVar[int | None] = None
    """Size of the row sample that a fit on far more rows sees, redrawn periodically; None for all rows."""
    supports_log_transform: bool = False
    """Whether all terms are cosines without a range, or trees of ``design.original``, so that it may be bent."""

    @property
    def active_constraints(self) -> tuple[str, ...]:
        """The names of hyperparameters that are set and constrain every term, such as monotone constraints.

        A model keeps to them only if all learners whose terms it sums do; by default there are none.
        """
        return ()

    @abstractmethod
    def fit(self, round: Round) -> Term:
        """The term of this round."""

    def merges_rows(self, n_samples: int) -> bool:
        """Whether duplicate rows are merged, their weights added up, before a fit on `n_samples` rows.

        For learners that amplify rounding errors from round to round: a row of weight 2 and the row twice then
        lead to the same bits.
        """
        return False


class Step(Spec, ABC):
    """Decides how far to move along a term's output."""

    @abstractmethod
    def move(self, round: Round, output: Array) -> tuple[float, float]:
        """Return (keep, length) of the update ``raw <- keep * raw + length * output``.

        keep is 1 for steps that leave earlier terms unchanged; a ridge step, for example, shrinks them.
        """

    def shrinkage(self, index: int) -> float:
        """The fraction of a full step that is taken in round `index`."""
        return 1.0


class Optimizer(Spec, ABC):
    """Minimises a function."""

    @abstractmethod
    def minimise(self, fun: Callable[[Any], Any], x0: Any, bounds: tuple[float, float] | None = None) -> Any:
        """Return the best point found for `fun` from `x0`, within `bounds` if given.

        A gradient-based optimizer calls ``fun(x) -> (value, gradient)``, a derivative-free one
        ``fun(x) -> value``. `fun` is valid only until this returns: it may work in buffers that are reused later.
        """

    def minimise_in_stages(self, rough: Callable[[Any], Any], fun: Callable[[Any], Any], x0: Any) -> Any:
        """Return the best point found for `fun`, where `rough` is a cheap approximation on a subset of the rows.

        One that needs only a few final steps on `fun` may start on `rough`; by default `rough` is ignored.
        """
        return self.minimise(fun, x0)
