"""The papers' systems, as functions of their size, on features that are already standardised."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from ..baselines.feature_map import MappedSVM
from ..baselines.hyperparameter_grids import PAPERS
from ..baselines.landmarks import PBLandmarks
from ..compare.protocol import SYSTEM_SEED, THREADS
from ..compare.systems import SYSTEMS
from .grid_search import Landmarked, Mapped, Staged, SystemPath

SLOW = {
    "BMKR": "eleven support vector regressions on all rows in every round: half a minute per split of 800 rows, "
    "and more than in proportion with more of them",
    "MKBOOST": "seventeen support vector machines on all rows in every round: minutes per split of 200 rows, "
    "and more than in proportion with more of them",
}
"""The inherently slow systems of the papers."""

PRESETS = {"GBRFF": "gbrff", "GBRFF1": "gbrff1", "GBRFF2": "gbrff2"}
"""Names of the papers' own systems in the comparison, where they have the published random draws."""


def preset(name: str, size: float, **parameters: Any) -> Any:
    """One of the papers' own systems, of that many rounds."""
    build = SYSTEMS.create(PRESETS[name]).build
    model = build(rounds=int(size), learning_rate=1.0, seed=SYSTEM_SEED, threads=THREADS)
    return model.set_params(**parameters)


def as_published(paper: str, system: str, size: float) -> Any:
    """A system as a paper ran it, without a scaler of its own."""
    return unscaled(PAPERS[paper][system].build(size, SYSTEM_SEED))


def unscaled(model: Any) -> Any:
    """The model without a scaler of its own."""
    names = [name for name in model.get_params() if name.split("__")[-1] == "standardize"]
    return model.set_params(**dict.fromkeys(names, False))


def system_path(paper: str, system: str, largest: float, **parameters: Any) -> SystemPath:
    """A system of one of the papers of Gautheron et al. as a function of its rounds or landmarks.

    Parameters
    ----------
    paper, system : str
        Keys of :data:`rffboost_ext.experiments.baselines.hyperparameter_grids.PAPERS`.
    largest : float
        The largest number of rounds or landmarks that there is.
    **parameters
        Set on the papers' own systems, beside what the grid sets.
    """
    grid = PAPERS[paper][system].grid
    if system in PRESETS:
        return Staged(partial(preset, system, **parameters), grid)
    make: Callable[[float], Any] = partial(as_published, paper, system)
    made = make(1)
    if not isinstance(made, MappedSVM):
        return Staged(make, grid)
    kind = Landmarked if isinstance(made.mapping, PBLandmarks) else Mapped
    return kind(make, grid, largest)
