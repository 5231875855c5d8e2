"""What chooses the length of a step, and what minimises functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from ..utils.typing import Array
from .round import Round
from .spec import Spec


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
