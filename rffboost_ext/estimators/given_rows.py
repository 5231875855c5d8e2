"""The rows of a fit: arrays and tables as they are given, and a sample of the rows of a source."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ..boosting.loop import Parts
from ..contracts.fit import prepare
from ..core import Observations
from ..data.dataset import Dataset
from ..losses.coupling import Coupling
from ..preprocessing.column_summary import summarize_columns
from ..preprocessing.tables import number_array
from ..preprocessing.targets import LabelEncoder
from ..sources.core import Batch, Source, gather
from ..sources.mass import GradientMass
from ..sources.sample import Classes, Sample, batch_weight, draw, groups_or_rows, positive_rows
from ..utils.typing import Array
from .planning import compose

# Of K classes, those of at most max_rows / (SMALL_CLASS K) rows are kept as a whole.
SMALL_CLASS = 10


def sample_of(
    estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any, base_margin: Any, name: str = "groups"
) -> Sample:
    """The rows of a fit, which X gives as an array or table, as a source of rows, or as a sample of a source.

    A ValueError names another argument that is given beside a source; `name` is that of the groups.
    """
    if not isinstance(X, Source):
        return X if isinstance(X, Sample) else Sample(X, y, sample_weight, groups)
    given = {"y": y, "sample_weight": sample_weight, name: groups, "base_margin": base_margin}
    if wrong := [label for label, value in given.items() if value is not None]:
        raise ValueError(
            f"{type(estimator).__name__}: {wrong[0]} must be None where X is a source of rows, which has targets, "
            f"weights and groups of its own, got a {type(given[wrong[0]]).__name__}"
        )
    sample: Sample = estimator.draw(X)
    return sample


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


def draw_uniform(estimator: Any, source: Source, **given: Any) -> Sample:
    """A uniform sample of a source, within its bound, by a seed that is the same in a second fit."""
    seed = estimator.random_state
    if seed is not None and not isinstance(seed, int | np.integer):
        # The generator keeps its state.
        seed = deepcopy(seed).randint(2**31 - 1)
    return draw(source, int(seed or 0), **given)


def draw_by_gradient(estimator: Any, source: Source, uniform: bool) -> Sample:
    """The rows of a source that a booster keeps: more of large gradients, and whole groups of coupled rows."""
    parts, owner = compose(estimator), type(estimator).__name__
    kinds = {one.rows: one for one in reversed(estimator._couplings(parts.loss))}
    columns = None if uniform else partial(summarize_columns, owner, estimator.categorical_features)
    if "groups" in kinds and "all" not in kinds:
        return draw_uniform(estimator, source, columns=columns, groups=partial(group_labels, kinds["groups"]))
    if uniform or "all" in kinds:
        return draw_uniform(estimator, source, columns=columns)

    def weigh(batch: Batch, classes: Classes | None) -> GradientMass:
        return gradient_mass(estimator, parts, batch, classes, source.row_limit())

    has_classes = estimator.task == "classification"
    return draw_uniform(estimator, source, weigh=weigh, has_classes=has_classes, columns=columns)


def gradient_mass(estimator: Any, parts: Parts, batch: Batch, classes: Classes | None, limit: int) -> GradientMass:
    """The mass of rows, by a uniform sample of targets and the classes of all rows."""
    batch = batch.take(np.flatnonzero(positive_rows(batch)))
    if classes is not None:
        rows = [replace(batch, X=None, group=None), *absent_classes(batch, classes)]
        batch = gather(rows, [np.arange(len(one)) for one in rows])
    targets, y = estimator._read_target(batch.y)
    y, weight = targets.fit_transform(y, batch_weight(batch))
    estimator._check_target(parts, Dataset(y, y, weight), targets)
    loss, baseline = prepare(parts.loss, Observations(y, weight), targets.n_classes)
    whole = np.empty(0, dtype=bool)
    if classes is not None and isinstance(targets, LabelEncoder):
        most = limit / (SMALL_CLASS * len(targets.classes))
        whole = np.array([classes.counts[label] <= most for label in targets.classes.tolist()])
    mass = GradientMass(loss, targets, baseline, whole)
    _, weight, slope = mass.terms(batch)
    return replace(mass, mean_weight=float(weight.mean()), mean_slope=float(slope.mean()))


def absent_classes(batch: Batch, classes: Classes) -> list[Batch]:
    """A row of each class that is not among some rows."""
    rows = [classes.first[label] for label in sorted(classes.first.keys() - Classes.of(batch).first.keys())]
    weight = None if batch.weight is None else np.ones(1)
    return [Batch(None, np.array([number], np.uint64), y, weight) for number, y in rows]


def group_labels(coupling: Coupling, batch: Batch) -> Array:
    """The groups of rows, (m,), by the source or by the target; without groups each row is its own."""
    has_own = batch.group is None and batch.y is not None and batch.y.ndim == 2
    return coupling.groups(number_array(batch.y)) if has_own else groups_or_rows(batch)
