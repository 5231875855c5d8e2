"""Weak learners: they fit one round. A learner that yields ``Cosines`` or ``Trees`` needs no exporter."""

from ..core import Learner
from ..registry import Registry

LEARNERS: Registry[Learner] = Registry("learner", Learner)  # type: ignore[type-abstract]

from .apart import Apart  # noqa: E402
from .fourier import RFF1, RFFK  # noqa: E402
from .irls import RFFIRLS  # noqa: E402
from .matches import MATCHES, Match  # noqa: E402
from .mixture import Mixture  # noqa: E402
from .newton import RFFNewton  # noqa: E402
from .placement import PLACEMENTS, Placement  # noqa: E402
from .ridge import RFFRidge  # noqa: E402
from .spectrum import SPECTRA, Spectrum  # noqa: E402
from .tree import Tree  # noqa: E402
from .weighting import WEIGHTINGS, Weighting  # noqa: E402

__all__ = [
    "LEARNERS",
    "MATCHES",
    "PLACEMENTS",
    "RFF1",
    "RFFIRLS",
    "RFFK",
    "SPECTRA",
    "WEIGHTINGS",
    "Apart",
    "Match",
    "Mixture",
    "Placement",
    "RFFNewton",
    "RFFRidge",
    "Spectrum",
    "Tree",
    "Weighting",
]
