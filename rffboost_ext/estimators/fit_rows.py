"""The rows of a fit: arrays and tables as they are given, and a sample of the rows of a source."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..boosting.loop import Parts
from ..contracts.fit import prepare
from ..core import Observations
from ..losses.coupling import Coupling
from ..rows.column_summary import summarize_columns
from ..rows.dataset import Dataset
from ..rows.row_arguments import encode_base_margin
from ..rows.tables import number_array
from ..rows.targets import TargetEncoder
from ..rows.weights import check_sample_weight, rows_of_positive_weight
from ..sources.core import Batch, Source, gather
from ..sources.levels import Levels
from ..sources.mass import GradientMass
from ..sources.sample import FitRows, batch_weight, draw, groups_or_rows, positive_rows
from ..sources.schema import rows_named
from ..utils.typing import Array
from .planning import compose


def sample_of(
    estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any, base_margin: Any, name: str = "groups"
) -> FitRows:
    """The rows of a fit, which X gives as an array or table, as a source of rows, or as a sample of a source.

    A ValueError names another argument that is given beside a source; `name` is that of the groups.
    """
    if not isinstance(X, Source):
        return X if isinstance(X, FitRows) else FitRows(X, y, sample_weight, groups)
    others = {"y": y, "sample_weight": sample_weight, name: groups, "base_margin": base_margin}
    if wrong := [label for label, value in others.items() if value is not None]:
        raise ValueError(
            f"{type(estimator).__name__}: {wrong[0]} must be None where X is a source of rows, which has targets, "
            f"weights and groups of its own, got a {type(others[wrong[0]]).__name__}"
        )
    sample: FitRows = estimator.draw(X)
    return sample


def read_rows(estimator: Any, X: Any, y: Any, *others: Any) -> tuple[TargetEncoder, FitRows]:
    """The encoder of targets, and the rows of :func:`sample_of`, whose target is an array."""
    sample = sample_of(estimator, X, y, *others)
    if sample.y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None")
    with sample.rows_named(all_rows=True):
        targets, labels = estimator._read_target(sample.y)
    return targets, replace(sample, y=labels)


def rows_to_score(
    estimator: Any, X: Any, y: Any, sample_weight: Any, base_margin: Any
) -> tuple[Array, Array, Array]:
    """Encoded targets, raw scores and weights of the rows of positive weight, for a fitted regressor."""
    check_is_fitted(estimator)
    targets = estimator._targets()
    if base_margin is not None:
        base_margin = encode_base_margin(base_margin, X, sample_weight, estimator.ensemble_.n_outputs)
    X, y, weight = rows_of_positive_weight(X, targets.columns(y), sample_weight)
    return targets.transform(y), estimator.raw_scores(X, base_margin), weight


def drawn_sets(estimator: Any, eval_set: Any) -> tuple[Any, dict[str, Any]]:
    """An ``eval_set`` whose sources are replaced by uniform samples, and the groups of each sample by its name."""
    if isinstance(eval_set, Source):
        eval_set = [eval_set]
    if not isinstance(eval_set, list | tuple | Mapping):
        return eval_set, {}
    items = eval_set.items() if isinstance(eval_set, Mapping) else enumerate(eval_set)
    samples = {key: estimator.draw(one, uniform=True) for key, one in items if isinstance(one, Source)}
    if not samples:
        return eval_set, {}
    sets = dict(items) | {key: one.rows for key, one in samples.items()}
    if isinstance(eval_set, Mapping):
        return sets, {str(key): one.groups for key, one in samples.items()}
    return list(sets.values()), {f"validation_{key}": one.groups for key, one in samples.items()}


def uniform_sample(estimator: Any, source: Source, **options: Any) -> FitRows:
    """A uniform sample of a source, within its bound, by a seed that is the same in a second fit."""
    seed = estimator.random_state
    if seed is not None and not isinstance(seed, int | np.integer):
        # The generator keeps its state.
        seed = deepcopy(seed).randint(2**31 - 1)
    return draw(source, int(seed or 0), **options)


def gradient_sample(estimator: Any, source: Source, uniform: bool) -> FitRows:
    """The rows of a source that a booster keeps: more of large gradients, and whole groups of coupled rows."""
    parts, owner = compose(estimator), type(estimator).__name__
    kinds = {one.rows: one for one in reversed(estimator._couplings(parts.loss))}
    columns = None if uniform else partial(summarize_columns, owner, estimator.categorical_features)
    levels = None if uniform else estimator.kept_levels
    if levels == "labels" and estimator.task == "classification" and parts.loss.multilabel:
        levels = "indicators"
    if levels == "events" and parts.loss.infinite:
        levels = "bounds"
    options: dict[str, Any] = {"columns": columns, "levels": levels}
    if "groups" in kinds and "all" not in kinds:
        options["groups"] = partial(group_labels, kinds["groups"])
    elif not uniform and "all" not in kinds:
        options["weigh"] = partial(gradient_mass, estimator, parts, source.name_of)
    return uniform_sample(estimator, source, **options)


def gradient_mass(
    estimator: Any, parts: Parts, name_of: Callable[[int], str], batch: Batch, levels: Levels | None
) -> GradientMass:
    """The mass of rows, by a uniform sample of targets and the classes of all rows."""
    batch = batch.take(np.flatnonzero(positive_rows(batch)))
    check_sample_weight(batch.weight, len(batch))
    if levels is not None:
        rows = [replace(batch, X=None, group=None), *absent_levels(batch, levels)]
        batch = gather(rows, [np.arange(len(one)) for one in rows])
    with rows_named(batch.row, name_of):
        targets, y = estimator._read_target(batch.y)
    y, weight = targets.fit_transform(y, batch_weight(batch))
    estimator._check_target(parts, Dataset(y, y, weight), targets)
    loss, baseline = prepare(parts.loss, Observations(y, weight), targets.n_classes)
    mass = GradientMass(loss, targets, baseline)
    weight, slope = mass.terms(batch)
    return replace(mass, mean_weight=float(weight.mean()), mean_slope=float(slope.mean()))


def absent_levels(batch: Batch, levels: Levels) -> list[Batch]:
    """A row of each level that is not among some rows."""
    rows = [levels.first[level] for level in levels.absent_from(batch)]
    weight = None if batch.weight is None else np.ones(1)
    return [Batch(None, np.array([number], np.uint64), y, weight) for number, y in rows]


def group_labels(coupling: Coupling, batch: Batch) -> Array:
    """The groups of rows, (m,), by the source or by the target; without groups each row is its own."""
    has_own = batch.group is None and batch.y is not None and batch.y.ndim == 2
    return coupling.groups(number_array(batch.y)) if has_own else groups_or_rows(batch)
