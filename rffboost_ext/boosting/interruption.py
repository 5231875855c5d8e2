"""A fit that the user interrupts."""

from __future__ import annotations

from ..terms.ensemble import Ensemble


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
