"""What a fit with early stopping trains, as a value: members, rates, patience and folds."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Any, ClassVar

from ..boosting.early_stopping.patience import Condition, Patience, PatienceLimit
from ..boosting.loop import Parts, Shrunk
from ..boosting.plan import Member, Plan
from ..boosting.steps import RATE
from ..core import Learner
from ..learners.registry import LEARNERS
from ..rows.dataset import Dataset
from ..terms import ImputeAndEncode
from ..utils.param_validation import OPTIONAL, Check, Instance, Integer, OneOf, require, require_all
from ..utils.registry import full_repr
from ..utils.sparse import is_sparse
from .policies import policy_of


@dataclass(frozen=True)
class Facts:
    """What the choice of a recipe depends on.

    Parameters
    ----------
    n_samples, n_features : int
        The size of the data.
    n_classes : int, optional
        The number of classes; None for regression.
    rows : {"set", "independent", "groups", "all"}, default="set"
        How the loss couples rows, as ``Loss.rows`` says.
    n_groups : int, optional
        The number of groups of rows that are held out together; None if rows are held out one by one.
    effective_size : float, optional
        The number of rows of equal weight with which a mean would vary as much; None if weights are equal.
    is_sparse : bool, default=False
        Whether the rows are those of a large sparse matrix.

    Examples
    --------
    >>> from rffboost_ext.recipes import Facts, choose_recipe
    >>> [rule.name for rule in choose_recipe(Facts(n_samples=600, n_features=10)).members]
    ['trees', 'kernel ridge regression']
    """

    n_samples: int
    n_features: int
    n_classes: int | None = None
    rows: str = "set"
    n_groups: int | None = None
    effective_size: float | None = None
    is_sparse: bool = False

    def __post_init__(self) -> None:
        for name in ("n_samples", "n_features"):
            require("Facts", name, getattr(self, name), Integer(1))

    @classmethod
    def of(cls, rows: Dataset, task: str) -> Facts:
        """The facts of some rows for a task, "regression" or "classification"."""
        return cls(
            n_samples=len(rows),
            n_features=rows.X.shape[1],
            n_classes=int(rows.y[:, 0].max()) + 1 if task == "classification" else None,
            rows=rows.coupling,
            n_groups=None if rows.group is None else rows.n_groups,
            effective_size=rows.effective_size,
            is_sparse=is_sparse(rows.X),
        )


# The memory address in the text of a function or an object.
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


@dataclass(frozen=True, eq=False)
class MemberRule:
    """One kind of models of a recipe.

    Parameters
    ----------
    name : str
        The name of the member, unique in a recipe.
    learner : str or Learner
        The weak learner: a registered name or an instance.
    after : {"keep", "replay", "refit"}, default="keep"
        What happens to the models once early stopping has chosen their rounds. With "keep" they stay. With
        "replay" the terms of each are fitted to all rows again by :meth:`~rffboost_ext.Learner.refit`: of trees
        the splits stay. With "refit" one model is trained on all rows, with the mean number of rounds, scaled up
        with the number of rows. Learners that cannot be replayed keep several models, and refit a single one.
    n_models : int, optional
        The number of models, of the first folds; None for a model of each fold.
    learning_rate : float or callable, optional
        The learning rate; None for that of the recipe.
    limit : PatienceLimit, optional
        Limits to the patience of the recipe.
    when : Condition, optional
        What the results of the members before must be for this one to be trained.

    Examples
    --------
    >>> from dataclasses import replace
    >>> from rffboost_ext.recipes import Facts, MemberRule, choose_recipe
    >>> recipe = choose_recipe(Facts(n_samples=600, n_features=10))
    >>> cosines = MemberRule("cosines", "rff_newton", learning_rate=0.1)
    >>> [rule.name for rule in replace(recipe, members=[*recipe.members, cosines]).members]
    ['trees', 'kernel ridge regression', 'cosines']
    """

    constraints: ClassVar[dict[str, Check]] = {
        "name": Instance(str),
        "learner": Instance(str) | Instance(Learner),
        "after": OneOf(("keep", "replay", "refit")),
        "n_models": Integer(1) | OPTIONAL,
        "learning_rate": RATE | OPTIONAL,
        "limit": Instance(PatienceLimit) | OPTIONAL,
    }

    name: str
    learner: str | Learner
    after: str = "keep"
    n_models: int | None = None
    learning_rate: float | Callable[[int], float] | None = None
    limit: PatienceLimit | None = None
    when: Condition | None = None

    def __post_init__(self) -> None:
        require_all(self, self.constraints)
        if isinstance(self.learner, str):
            LEARNERS.get(self.learner)
        if self.when is not None and (isinstance(self.when, type) or not hasattr(self.when, "is_met")):
            raise TypeError(
                f"MemberRule: when must be an object with a method is_met or None, got {self.when!r:.100}"
            )

    def __eq__(self, other: object) -> bool:
        return isinstance(other, MemberRule) and self._entries == other._entries

    def __hash__(self) -> int:
        return hash((self.name, self.after, self.n_models))

    @property
    def _entries(self) -> dict[str, Any]:
        """The entries, with a text of the learner: learners of equal parameters are not equal objects."""
        return vars(self) | {"learner": self.learner if isinstance(self.learner, str) else full_repr(self.learner)}

    def member(self, parts: Parts, recipe: Recipe, n_initial: int, expansion: ImputeAndEncode | None) -> Member:
        """The member of the plan of a recipe, for a loss and features of an expansion."""
        is_own = self.learner is parts.learner
        own = parts if is_own else parts.with_learner(LEARNERS.create(self.learner))
        rate = recipe.learning_rate if self.learning_rate is None else self.learning_rate
        n_models = self.n_models if recipe.n_folds > 1 else 1
        policy, after = policy_of(own.learner), self.after
        if after == "replay" and not (own.learner.refits and policy.replays(own.learner, expansion)):
            after = "refit" if n_models == 1 else "keep"
        step = Shrunk(own.step, rate, n_initial)
        return Member(own.learner, step, self.name, after, n_models, self.limit, self.when, policy.pool_size)

    def __str__(self) -> str:
        return self.description()

    def description(self, n_folds: int | None = None) -> str:
        """The entries in one line, of a recipe of so many folds."""
        models = "a model of each fold" if self.n_models is None else f"{self.n_models} of the folds"
        models = "one model" if n_folds == 1 else models
        learner = self.learner if isinstance(self.learner, str) else full_repr(self.learner)
        rate = "" if self.learning_rate is None else f", learning rate {self.learning_rate}"
        done = {"keep": "", "replay": ", replayed on all rows", "refit": ", refitted to all rows"}[self.after]
        when = "" if self.when is None else f", when {self.when}"
        return ADDRESS.sub("", f"{self.name}: {learner}, {models}{rate}{done}{when}")


@dataclass(frozen=True)
class Recipe:
    """What a fit with early stopping trains: the members of a stack, and how.

    A recipe is a value: ``dataclasses.replace(recipe, learning_rate=0.05)`` is another one. An estimator takes it
    as ``quality=recipe``, and ``model.recipe_`` is what a fit has used. Parameters of the estimator, such as
    ``learning_rate``, override its entries.

    Parameters
    ----------
    members : sequence of MemberRule
        The kinds of models, the main one first. Weights that minimise the loss on held-out rows stack them.
    learning_rate : float or callable, default=0.1
        The learning rate of members without an own one.
    patience : Patience, optional
        Rounds without improvement after which early stopping ends the training of a model; None for all rounds.
    n_folds : int, default=1
        The number of folds, each of which is held out of one model of a member. With 1 the estimator's
        ``validation_fraction`` of the rows is held out.

    Examples
    --------
    >>> from rffboost_ext import RFFBoostRegressor, SymmetricTree
    >>> from rffboost_ext.recipes import MemberRule, Recipe
    >>> trees = MemberRule("trees", SymmetricTree(leaf="linear", max_depth=3), after="replay")
    >>> recipe = Recipe((trees, MemberRule("cosines", "rff_newton")), learning_rate=0.2, n_folds=3)
    >>> model = RFFBoostRegressor(quality=recipe, random_state=0).fit([[0.1 * i] for i in range(90)], range(90))
    >>> print(model.recipe_.n_folds)
    3
    """

    constraints: ClassVar[dict[str, Check]] = {
        "learning_rate": RATE,
        "patience": Instance(Patience) | OPTIONAL,
        "n_folds": Integer(1),
    }

    members: Sequence[MemberRule]
    learning_rate: float | Callable[[int], float] = 0.1
    patience: Patience | None = field(default_factory=lambda: Patience(25))
    n_folds: int = 1

    def __post_init__(self) -> None:
        owner, members = type(self).__name__, self.members
        if not isinstance(members, list | tuple) or not all(isinstance(one, MemberRule) for one in members):
            raise TypeError(f"{owner}: members must be a sequence of MemberRule, got {members!r:.100}")
        names = [one.name for one in members]
        if not names or len(set(names)) < len(names):
            raise ValueError(f"{owner}: members must be at least one, of different names, got {names}")
        # A list could change.
        object.__setattr__(self, "members", tuple(members))
        require_all(self, self.constraints)
        promises = {one.name: LEARNERS.make(one.learner).active_constraints for one in members}
        for name in sorted({*chain(*promises.values())}):
            if others := [member for member, kept in promises.items() if name not in kept]:
                raise ValueError(
                    f"{owner}: {name} must hold for all members, but the learners of {others} have none"
                )
        if members[0].when is not None:
            raise ValueError(f"{owner}: when of the first member must be None, got {members[0].when!r:.100}")
        if self.patience is None and len(members) > 1:
            raise ValueError(f"{owner}: members must be a single one where patience is None, got {names}")

    def changed(self, name: str, **changes: Any) -> Recipe:
        """The recipe with other entries of the member of this name."""
        self._require_members(name)
        return replace(
            self, members=[replace(one, **changes) if one.name == name else one for one in self.members]
        )

    def without(self, *names: str) -> Recipe:
        """The recipe without the members of these names."""
        self._require_members(*names)
        return replace(self, members=[one for one in self.members if one.name not in names])

    def _require_members(self, *names: str) -> None:
        """Raise a ValueError unless there is a member of each name."""
        for name in names:
            if name not in self.names:
                raise ValueError(f"Recipe: name must be one of {self.names}, got {name!r}")

    @property
    def names(self) -> list[str]:
        """The names of the members."""
        return [one.name for one in self.members]

    def plan(
        self, parts: Parts, n_estimators: int, n_initial: int = 0, expansion: ImputeAndEncode | None = None
    ) -> Plan:
        """The plan of a fit.

        Parameters
        ----------
        parts : Parts
            The loss, and the step that the user chose.
        n_estimators : int
            Maximum number of rounds.
        n_initial : int, default=0
            Rounds of an initial model.
        expansion : ImputeAndEncode, optional
            What the features become, on which it depends whether trees can be replayed.
        """
        members = [one.member(parts, self, n_initial, expansion) for one in self.members]
        return Plan(members, n_estimators, self.patience, n_folds=self.n_folds)

    def __str__(self) -> str:
        wait = "all rounds" if self.patience is None else f"patience {self.patience.rounds}"
        folds = f"{self.n_folds} folds" if self.n_folds > 1 else "one held-out part"
        first = ADDRESS.sub("", f"learning rate {self.learning_rate}, {wait}, {folds}")
        return "\n".join([first, *(f"  {one.description(self.n_folds)}" for one in self.members)])
