"""The other systems of the papers; see :mod:`rffboost_ext.experiments.baselines`."""

from .experiments.baselines import *  # noqa: F403
from .experiments.baselines import __all__ as __all__
