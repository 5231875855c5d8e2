"""The nouns of a fit: what is trained, from where, and what comes out."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from ..core import Learner, Step
from ..rows.dataset import Dataset
from ..terms.ensemble import Ensemble
from ..utils.typing import Array
from .early_stopping.patience import Condition, Patience, PatienceLimit


class Interrupted(KeyboardInterrupt):
    """A fit that the user has interrupted.

    Attributes
    ----------
    ensemble : Ensemble
        The rounds that were done.
    """

    def __init__(self, ensemble: Ensemble) -> None:
        super().__init__(f"the fit was interrupted: the model has the {len(ensemble)} rounds that were done")
        self.ensemble = ensemble

    def __reduce__(self) -> tuple[type[Interrupted], tuple[Ensemble]]:
        # By default an exception is unpickled from its message.
        return type(self), (self.ensemble,)


@dataclass(frozen=True)
class Member:
    """One kind of models in a fit.

    Parameters
    ----------
    learner, step : Learner, Step
        The parts; the learning rate is a part of the step.
    name, after, n_splits, limit, when
        As in :class:`~rffboost_ext.recipes.MemberRule`; `n_splits` is ``n_models``.
    pool_size : int, optional
        Size of the sample of far more rows, redrawn periodically; None for all rows.
    fitted : sequence of Ensemble
        The models of a refresh, whose terms are fitted again in place of new ones.
    """

    learner: Learner
    step: Step
    name: str = ""
    after: str = "keep"
    n_splits: int | None = None
    limit: PatienceLimit | None = None
    when: Condition | None = None
    pool_size: int | None = None
    fitted: Sequence[Ensemble] = ()

    def n_models(self, n_splits: int) -> int:
        """The number of models, of so many splits."""
        return len(self.fitted) or min(self.n_splits or n_splits, n_splits)


@dataclass(frozen=True)
class Plan:
    """What a fit trains.

    Parameters
    ----------
    members : sequence of Member
        The kinds of models, the main one first; several need early stopping.
    n_estimators : int
        Maximum number of rounds of a model, those of an initial one included.
    patience : Patience, optional
        Rounds without improvement after which early stopping ends a fit; None to train all rounds. The other
        parameters are for early stopping only.
    tol : float, default=0.0
        Smallest decrease that counts as an improvement, as a share of the decrease so far.
    n_folds : int, default=1
        Number of folds of a division of the rows, each of which is held out once.
    validation_fraction : float, default=0.1
        Share of rows that is held out if there is one fold.
    splits : sequence of pairs of ndarray, optional
        The rows to fit to and to hold out of each model, instead of folds at random.
    weight : ndarray of shape (m,) or (m, C), optional
        The weights of the members of a refresh, if no rows can be held out.
    prior_weight : float, default=0.0
        Weight of the old values of a refresh, in rows.
    """

    members: Sequence[Member]
    n_estimators: int
    patience: Patience | None = None
    tol: float = 0.0
    n_folds: int = 1
    validation_fraction: float = 0.1
    splits: Sequence[tuple[Array, Array]] | None = None
    weight: Array | None = None
    prior_weight: float = 0.0


@dataclass(frozen=True)
class Start:
    """What a fit starts from; that of a fit is kept for a later one with ``warm_start=True``.

    Parameters
    ----------
    ensemble : Ensemble, optional
        The model to continue from, of a warm start or an initial model.
    raw : ndarray of shape (n, C), optional
        Its training scores, if they are known.
    learner_state : dict
        The state of learners across rounds, independent of single rows; filled by the fit.
    seed : int
        Seed of the rounds.
    n_initial : int
        Rounds of an initial model, which come on top of ``n_estimators``.
    loss : str
        Text of the loss before it was prepared.
    data_key : str, optional
        A hash of the rows of `raw`.
    n_kept : int
        Rounds that a refresh leaves as they are: of an initial model, or of a fit with early stopping that a warm
        start has continued, in which models of several members alternate.
    """

    ensemble: Ensemble | None = None
    raw: Array | None = None
    learner_state: dict[Hashable, Any] = field(default_factory=dict)
    seed: int = 0
    n_initial: int = 0
    loss: str = ""
    data_key: str | None = None
    n_kept: int = 0

    def without_state(self) -> Start:
        """The same without what is large, or belongs to some rows."""
        return replace(self, ensemble=None, raw=None, learner_state={}, data_key=None)

    def training_scores(self, rows: Dataset) -> Array | None:
        """The training scores, if they are of these rows."""
        # A fit on samples of the rows leaves the scores of its last sample.
        is_same = self.raw is not None and len(self.raw) == len(rows) and self.data_key == key_of(rows)
        return self.raw if is_same else None


def key_of(rows: Dataset) -> str:
    """A hash that identifies the rows of a fit."""
    from joblib import hash

    return str(hash((rows.X, rows.labels, rows.weight)))


@dataclass(frozen=True)
class Result:
    """The result of a fit.

    Parameters
    ----------
    ensemble : Ensemble
    curves : list of list of ndarray of shape (T + 1,)
        The held-out error before and after every round of each model, by member and fold; empty without early
        stopping.
    score : float, optional
        The held-out error of the ensemble before a refit, on average over folds.
    members : list of Member
        The members in the ensemble.
    weight : ndarray of shape (m,) or (m, C), optional
        The weights of these members, or of each of their scores, of sum 1.
    n_folds : int
        Models of each member.
    n_rounds : list of list of int
        The rounds of each model in the ensemble, by member and fold; empty after an interrupt.
    interrupt : Interrupted, optional
        What ended the fit before it was done.
    evaluations : dict
        Attributes of the fitted model: its metrics on the user's sets, and the best entry of what is monitored.
    """

    ensemble: Ensemble
    curves: list[list[Array]] = field(default_factory=list)
    score: float | None = None
    members: Sequence[Member] = ()
    weight: Array | None = None
    n_folds: int = 1
    n_rounds: list[list[int]] = field(default_factory=list)
    interrupt: Interrupted | None = None
    evaluations: dict[str, Any] = field(default_factory=dict)
