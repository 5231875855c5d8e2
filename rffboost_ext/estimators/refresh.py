"""Refreshes: a fitted model keeps its structure and is fitted again to other rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._signals import atomic_fit
from ..boosting.loop import Parts
from ..boosting.plan import Plan, Result, Start
from ..boosting.run import Run
from ..boosting.training import Trainer
from ..core import Learner
from ..rows.dataset import Dataset
from ..terms import FeatureMap
from ..terms.ensemble import Ensemble, unweighted
from ..utils.parallel import use_threads
from ..utils.param_validation import NON_NEGATIVE, require
from ..utils.registry import full_repr
from ..utils.typing import Array
from .docstrings import documented
from .fit_rows import read_rows
from .parameters import B
from .planning import HELD_OUT, compose, has_splitter, without_duplicates

# Rows that an old value counts for: on generated streams more rows are worse where much has changed.
PRIOR_WEIGHT = 5.0


@documented
@atomic_fit
def refresh(
    self: B,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    groups: Any = None,
    base_margin: Any = None,
    prior_weight: float = PRIOR_WEIGHT,
) -> B:
    """Fit the values of the model again to other rows, and keep its structure.

    {refresh}

    Parameters
    ----------
    {X}
    {y}
    {sample_weight}
    {groups}
    {base_margin}
    {prior_weight}

    {raises_refresh}
    """
    check_is_fitted(self)
    parts = compose(self)
    require_refreshable(self, parts, getattr(self, "learners_", [parts.learner]))
    require(type(self).__name__, "prior_weight", prior_weight, NON_NEGATIVE)
    targets, sample = read_rows(self, X, y, sample_weight, groups, base_margin)
    targets.classes = getattr(self, "classes_", None)
    rows, parts = self._rows_of(sample, targets, parts, base_margin, None)
    rows = rows.coupled_by(*self._couplings(parts.loss))
    if not hasattr(self, "learners_"):
        rows = without_duplicates(parts.learner, rows)
    self._store(replayed(self, parts, rows, prior_weight), self.recipe_)
    self._keep_rows(parts.loss, rows, self._start.seed)
    self._start, self.n_rows_seen_ = self._start.without_state(), sample.n_rows or len(sample.y)
    self._after_training(rows, targets)
    return self


def replayed(model: Any, parts: Parts, rows: Dataset, prior_weight: float) -> Result:
    """The rounds of a fitted model on other rows: its recipe, with members that start from their models."""
    fit, ensemble, weight = model._start, model.ensemble_, getattr(model, "learner_weights_", None)
    init = ensemble.truncated(fit.n_kept) if fit.n_kept else None
    structures = iter(unweighted(ensemble, [size for row in model._n_rounds for size in row]))
    models = [
        [unscaled(next(structures), np.ones(()) if weight is None else weight[k] / len(row)) for _ in row]
        for k, row in enumerate(model._n_rounds)
    ]
    plan = refreshed_plan(model, parts, rows, models, weight)
    with use_threads(model.n_jobs) as n_jobs:
        trainer = Trainer(
            parts.loss,
            plan.members[0],
            # Terms know how their features are scaled.
            standardize=False,
            seed=fit.seed,
            n_jobs=n_jobs,
            precision=model.precision,
            feature_map=FeatureMap(model.encoder_.expansion),
        )
        split_seed, _ = model._seeds()
        run = Run(replace(plan, prior_weight=prior_weight), rows, Start(init), ())
        return run.result(trainer, None, split_seed)


def refreshed_plan(
    model: Any, parts: Parts, rows: Dataset, models: Sequence[Sequence[Ensemble]], weight: Array | None
) -> Plan:
    """The plan of the fit, whose members start from the models of the fit."""
    recipe = model.recipe_
    plan = recipe.plan(parts, len(model.ensemble_), model._start.n_initial, model.encoder_.expansion)
    names = getattr(model, "member_names_", recipe.names[:1])
    by_name, divides = dict(zip(recipe.names, plan.members, strict=True)), rows.n_groups > 1
    members = []
    for name, own in zip(names, models, strict=True):
        # Models of folds stay so; a single one of a held-out part becomes one of all rows.
        keeps = divides and by_name[name].after == "keep" and recipe.n_folds > 1
        after = "keep" if keeps else "replay"
        members.append(replace(by_name[name], fitted=own, limit=None, when=None, after=after))
    return replace(
        plan,
        members=members,
        patience=None if sum(map(len, models)) == 1 else plan.patience,
        n_folds=min(plan.n_folds, rows.n_groups),
        splits=None if divides else [],
        validation_fraction=HELD_OUT if has_splitter(model) else model.validation_fraction,
        weight=weight,
    )


def unscaled(model: Ensemble, share: Array) -> Ensemble:
    """The terms before a weighted sum has scaled the scores by shares (C,); a single share has scaled lengths.

    A score of share 0 has lost its values.
    """
    if share.ndim == 0 or (share == 1.0).all():
        return model
    factor = np.divide(1.0, share, out=np.zeros_like(share), where=share > 0.0)
    return replace(model, terms=tuple(term.scaled(factor) for term in model.terms))  # type: ignore[arg-type]


def require_refreshable(model: Any, parts: Parts, learners: Sequence[Learner]) -> None:
    """Raise a ValueError that says why the rounds of a model cannot be fitted again."""
    owner = type(model).__name__
    if not model._n_rounds:
        raise ValueError(
            f"{owner}: refresh needs the rounds of a complete fit, but this model was averaged, made of an "
            f"ensemble, or its fit was interrupted: refresh the models that were averaged"
        )
    if full_repr(parts.loss) != model._start.loss:
        raise ValueError(
            f"{owner}: loss must be that of the fit to refresh it, {model.loss_!r}, got {parts.loss!r}"
        )
    for learner in learners:
        if not learner.refits:
            raise ValueError(
                f"{owner}: refresh needs learners with a method refit(term, round), which fits a term again to "
                f"other rows, got {learner!r}"
            )
