"""The public contract: losses, terms, learners, steps, optimizers and rounds, and their laws.

n is the number of samples, d of features, C of outputs and M of cosines. *Raw* scores are scores before the
link. They are always two-dimensional, (n, C), and so are targets, (n, K): a loss owns the columns of its target,
and says how many scores they need. A :class:`Spec` holds hyperparameters only; a result is a frozen dataclass of
arrays. Parts must not change arrays passed to them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TypeVar

import numpy as np
from sklearn.base import BaseEstimator

from .utils.migration_hints import require_known_params
from .utils.param_validation import Check, allows_auto, require_all
from .utils.pickling import PickledByFields
from .utils.registry import Registry, resolve_names
from .utils.typing import Array, DesignLike

T = TypeVar("T", bound="Term")
S = TypeVar("S", bound="Spec")


class Spec(BaseEstimator):
    """Hyperparameters of a part of a booster, without data.

    ``get_params``, ``clone``, ``repr`` and nested names such as ``learner__gamma`` work as in scikit-learn. A fit
    does not change a spec, so several fits may share one instance.
    """

    constraints: ClassVar[Mapping[str, Check]] = {}
    """Allowed values of each hyperparameter, checked at the start of a fit."""

    needs: ClassVar[Mapping[str, Sequence[str]]] = {}
    """Attributes that other parts must have, by role, such as ``{"loss": ["bounded_ratio"]}``."""

    roles: ClassVar[Mapping[str, Registry[Any]]] = {}
    """Hyperparameters that are parts themselves, as an instance or a registered name."""

    def validate(self) -> None:
        """Raise a TypeError or ValueError for the first invalid hyperparameter."""
        require_all(self, self.constraints)
        for role, registry in self.roles.items():
            part = getattr(self, role)
            if not (isinstance(part, str) and part == "auto" and allows_auto(type(self), role)):
                registry.create(part)

    def set_params(self: S, **params: Any) -> S:
        """Set hyperparameters, also nested ones of a part that is set by its registered name."""
        require_known_params(self, params)
        return super().set_params(**resolve_names(self, params, self.roles))


class Link(ABC):
    """The function between raw scores and the response, such as log or logit: a frozen dataclass."""

    @abstractmethod
    def inverse(self, raw: Array) -> Array:
        """Response for raw scores (n, C): class probabilities (n, K), or means (n, W) for regression."""


class Loss(Spec, ABC):
    """A loss function of target and raw scores; a booster minimises its weighted sum over rows.

    A custom loss implements the three abstract methods in plain NumPy, and defines either ``link`` or
    ``inverse_link``; for classification it sets ``task``. Nothing needs to be compiled.

    Laws, which are tested for every registered loss:

    - The gradient is the derivative of ``value`` with respect to the raw score if ``exact_gradient``. The hessian
      is the second derivative if ``exact_hessian``, else a positive upper bound. Both have the shape of ``raw``.
    - ``baseline`` minimises the weighted sum of ``value`` over constant raw scores.
    - A binary classification loss predicts the second class if raw > 0: its probability is then more than 1/2.
    - No method changes its arguments.
    """

    link: ClassVar[Link | None] = None
    """The link between raw scores and the response; ONNX export needs it."""
    task: ClassVar[str] = "regression"
    """``"classification"``, with class indices 0 .. K-1 as the first column of the target, or zeros and ones if
    ``multilabel``; or ``"regression"``, with real targets."""
    fit_criterion: ClassVar[str] = "newton"
    """Name of the default fit criterion of learners."""
    exact_gradient: ClassVar[bool] = True
    """Whether the gradient is the derivative of ``value`` everywhere.

    That of LambdaRank is not where the ranking changes: ``value`` is then what early stopping monitors."""
    exact_hessian: ClassVar[bool] = True
    """Whether ``derivatives`` returns the second derivative, not an upper bound."""
    bounded_ratio: ClassVar[bool] = False
    """Whether \\|gradient\\| <= hessian everywhere; the confidence-rated step requires it."""
    multiclass: ClassVar[bool] = False
    """For classification: whether the loss, or that returned by ``prepared``, supports more than two classes."""
    multilabel: ClassVar[bool] = False
    """For classification: whether the target has a column of zeros and ones for each of L labels, and the response
    the probability of each, (n, L)."""
    multi_output: ClassVar[bool] = False
    """For regression: whether the target may have several columns, with one raw score each.

    A loss with its own ``n_scores`` takes any columns, and checks them in ``check_target``."""
    positive: ClassVar[bool] = False
    """For regression: whether targets must be positive or non-negative."""
    translation_invariant: ClassVar[bool] = False
    """For regression: whether ``value(y + a, raw + a)`` is ``value(y, raw)`` for any a (n, C), as for residuals.

    An offset is then subtracted from the target, so that scales that ``prepared`` takes from it are those of what
    remains to be explained."""
    infinite: ClassVar[bool] = False
    """Whether targets may be infinite, such as the bounds of censored times."""
    response_names: ClassVar[Sequence[str] | None] = None
    """Names of the columns of the response, such as parameters of a distribution; each is an output in ONNX."""
    rows: ClassVar[str] = "set"
    """How the rows of a loss depend on one another.

    - ``"set"``: a call gets one set of rows and the scores of one round. Fits may sample, divide and merge rows.
    - ``"independent"``: the loss of a row depends on that row only; a call may hold rows of many rounds.
    - ``"groups"``: rows are coupled within groups, such as queries, whose codes are ``groups(y)``.
    - ``"all"``: rows are coupled with all others, as in risk sets.

    Fits keep groups whole. Losses of coupled rows, the last two, also get the sample weights, (n,): they define
    ``value(y, raw, weight)`` and ``derivatives(y, raw, weight)``. The total is the sum of weight times value, and
    the derivatives of row i are those of the total, divided by the weight of row i. Weights are relative: those of
    a group or a set times a factor give the same derivatives.
    """
    unit: float | str | Sequence[float] = 1.0
    """Factor of gradient and hessian in a fit, so that hessians are O(1) for any scale of the target.

    Minimisers and Newton steps do not depend on it, but the strength of learners' penalties does. It may be a
    hyperparameter: ``prepared`` then replaces ``"auto"`` by a number. With several outputs it may be a sequence.
    """
    relative_rates: float | Sequence[float] = 1.0
    """Factor of the learning rate, for each score if it is a sequence: hessians in a fit are divided by it.

    Scores that are fitted to the errors of others, such as the scale of a distribution, need shorter steps."""
    min_hessian: float = 0.0
    """Least hessian in a fit, in units of ``unit``, where hessians that are no upper bounds would be too small."""

    def prepared(self, y: Array, weight: Array, n_classes: int | None = None) -> Loss:
        """The loss with parameters that depend on the data, such as a scale or the number of classes.

        Called once per fit, with all targets. Law: ``prepared`` of a prepared loss returns the loss itself. So
        does the default, for losses without such parameters.

        Parameters
        ----------
        y : ndarray of shape (n, K)
            Target.
        weight : ndarray of shape (n,)
            Sample weights, positive.
        n_classes : int, optional
            Number of classes, at least 2. By default the largest class index in y plus 1.

        Returns
        -------
        Loss

        Raises
        ------
        ValueError
            If the targets are invalid for the loss.
        """
        return self

    def check_target(self, y: Array) -> None:
        """Raise a ValueError if targets of training or evaluation data are invalid for the loss."""

    def groups(self, y: Array) -> Array:
        """Codes of the groups of rows, (n,), by default the last column of y; of use if ``rows = "groups"``."""
        return y[:, -1]

    def n_scores(self, y: Array, n_classes: int | None = None) -> int:
        """Number of raw scores of each row, C, for a target.

        By default a score for each target of a regression and for each of several labels, one for two classes, and
        one for each of more classes. A loss may need another number: two for mean and scale of one target, or one
        for the K ordered classes of an ordinal regression. Columns of y that are no targets, such as costs or
        bounds, travel with their rows.

        Parameters
        ----------
        y : ndarray of shape (n, K)
            Target.
        n_classes : int, optional
            Number of classes, at least 2. By default the largest class index in y plus 1.

        Returns
        -------
        int

        Raises
        ------
        ValueError
            If the target has more columns than the loss takes.
        """
        takes_several = self.multi_output if self.task == "regression" else self.multilabel
        if y.shape[1] > 1 and not takes_several:
            name = "multi_output" if self.task == "regression" else "multilabel"
            raise ValueError(
                f"y must have one column for loss {self!r}, got {y.shape[1]}; several need a loss with the "
                f"attribute {name!r}, or with a method 'n_scores'"
            )
        if self.task == "regression" or self.multilabel:
            return y.shape[1]
        n_classes = max(2, int(y.max()) + 1) if n_classes is None else n_classes
        return 1 if n_classes == 2 else n_classes

    @abstractmethod
    def value(self, y: Array, raw: Array) -> Array:
        """Loss of each row, (n,)."""

    @abstractmethod
    def derivatives(self, y: Array, raw: Array) -> tuple[Array, Array]:
        """First and second derivatives of ``value`` with respect to ``raw``, new arrays of shape (n, C)."""

    @abstractmethod
    def baseline(self, y: Array, weight: Array) -> Array:
        """The constant raw score, (C,), that minimises the weighted loss."""

    def inverse_link(self, raw: Array) -> Array:
        """Response for raw scores, by default ``link.inverse(raw)``: probabilities (n, K), or means (n, W)."""
        if self.link is None:
            raise NotImplementedError(f"loss {self!r} must define 'link' or 'inverse_link'")
        return self.link.inverse(raw)

    def prediction(self, response: Array) -> Array:
        """What metrics compare with targets, by default the response; of a distribution's parameters the mean."""
        return response


class Term(PickledByFields, ABC):
    """A function from X (n, d) to outputs (n, C), held as constant arrays: the result of a learner.

    Laws: ``t.scaled(a)(X) == a * t(X)``, and ``type(t).stack([s, t])(X) == s(X) + t(X)`` if s and t are of one
    family. The terms of this package are final: a custom term derives from this class.
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
        """Terms of equal family can be stacked; override it if instances differ in more than arrays."""
        return type(self)

    def features(self, X: Array) -> Array:
        """The learned representation of X, (n, p): by default the outputs; for cosines each single one."""
        return self(X)

    def merged(self) -> Term:
        """The same function with equal parts merged; called on stacked terms."""
        return self

    def materialized(self) -> Term:
        """The same function as plain arrays, which can be stored; learners may return lazy terms."""
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
    """The state of one boosting round, read-only. Row i of each array belongs to row i of ``design``.

    Attributes
    ----------
    design : Design
        The features: ``design.X`` is standardised, (n, d), or (n, e) after imputation and one-hot encoding.
    loss : Loss
        The loss that is minimised.
    y, raw : ndarray
        Target, (n, K), and raw scores so far, (n, C). An offset is in the last columns of `y`, for `loss` to add.
    gradient, hessian : ndarray of shape (n, C)
        Derivatives at ``raw`` of ``loss.unit`` times the loss, sample weights not applied.
    weight : ndarray of shape (n,)
        Sample weights; a row of weight 2 is equivalent to two rows, unless the loss couples rows. A learner that
        fits to a sample of the rows sets those of others to 0.
    index : int
        Index of the round, from 0.
    rng : numpy.random.Generator
        The random generator of this round.
    shrinkage : float
        Fraction of the full step that the term will be multiplied by, such as the learning rate.
    loss_weight : ndarray of shape (n,), optional
        Sample weights for calls of the loss: those of all rows, whatever a learner samples.
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
    loss_weight: Array = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        if self.loss_weight is None:
            object.__setattr__(self, "loss_weight", self.weight)

    @property
    def residual(self) -> Array:
        """The negative gradient, (n, C), which the next term approximates."""
        return -self.gradient

    @property
    def output_weights(self) -> Array | None:
        """Weights of outputs in sums over outputs, (C,), if each has its own unit; None for equal weights."""
        unit = self.loss.unit
        return None if isinstance(unit, float) or np.ndim(unit) == 0 else 1.0 / np.asarray(unit)

    @cached_property
    def total_weight(self) -> float:
        """The sum of the sample weights."""
        return float(self.weight.sum())

    def mean(self, values: Array) -> Any:
        """The weighted mean over rows, the last axis of `values`."""
        return values @ self.weight / self.total_weight

    def inner(self, *factors: Array) -> float:
        """The weighted sum over rows and outputs of the product of arrays of shape (n, C)."""
        return float(np.einsum("i" + ",ic" * len(factors) + "->", self.weight, *factors))


class Learner(Spec, ABC):
    """Fits one term per round.

    A learner reads ``round.design.X``, ``round.residual`` (or gradient and hessian) and ``round.weight``. Laws:
    the term is a function of ``round.design.X``, and all random numbers are drawn from ``round.rng``.
    """

    step: ClassVar[str | None] = None
    """Name of the default step; None if it depends on the loss."""
    bounded: ClassVar[bool] = False
    """Whether outputs of terms are within [-1, 1]."""
    multi_output: ClassVar[bool] = False
    """Whether a term can have several outputs."""
    stops_early: ClassVar[bool] = False
    """Whether estimators use early stopping by default."""
    pool_size: ClassVar[int | None] = None
    """Size of the sample, redrawn periodically, for fits on far more rows; None for all rows."""
    supports_log_transform: bool = False
    """Whether features may be log-transformed: all terms are unclipped cosines, or trees of ``original``."""

    @property
    def active_constraints(self) -> tuple[str, ...]:
        """Names of hyperparameters that constrain every term, such as monotone constraints.

        A model satisfies a constraint only if all learners of its terms do. By default there are none.
        """
        return ()

    @abstractmethod
    def fit(self, round: Round) -> Term:
        """The term of this round."""

    def merges_rows(self, n_samples: int) -> bool:
        """Whether duplicate rows are merged, with summed weights, before a fit on `n_samples` rows.

        For learners that amplify rounding errors: a row of weight 2 and two equal rows then give the same bits.
        """
        return False


class Step(Spec, ABC):
    """Chooses the length of the step along a term."""

    @abstractmethod
    def move(self, round: Round, output: Array) -> tuple[float, float]:
        """Return (keep, length) of the update ``raw <- keep * raw + length * output``.

        keep is 1 if earlier terms stay unchanged; a ridge step, for example, shrinks them.
        """

    def shrinkage(self, index: int) -> float:
        """Fraction of the full step in round `index`."""
        return 1.0


class Optimizer(Spec, ABC):
    """Minimises a function."""

    @abstractmethod
    def minimise(self, fun: Callable[[Any], Any], x0: Any, bounds: tuple[float, float] | None = None) -> Any:
        """Return the best point for `fun` from the start `x0`, within `bounds`.

        `fun` returns (value, gradient) for a gradient-based optimizer, and value for a derivative-free one. It
        must not be called after this method returns, as its buffers are reused.
        """

    def minimise_in_stages(self, rough: Callable[[Any], Any], fun: Callable[[Any], Any], x0: Any) -> Any:
        """Return the best point for `fun`; a first stage may use `rough`, an approximation on a subset of rows.

        By default there is no first stage.
        """
        return self.minimise(fun, x0)
