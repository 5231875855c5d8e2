# ruff: noqa: F401 - names of rffboost_ext, and for its rooms
"""The public contract: losses, terms, learners, steps, optimizers and rounds, and their laws.

n is the number of samples, d of features, C of outputs and M of cosines. *Raw* scores are scores before the
link. They are always two-dimensional, (n, C), and so are targets, (n, K): a loss owns the columns of its target,
and says how many scores they need. A :class:`Spec` holds hyperparameters only; a result is a frozen dataclass of
arrays. Parts must not change arrays passed to them.
"""

from ..utils.registry import Spec
from .loss import CoupledLoss, Link, Loss, Observations, Scales
from .round import Fitted, Learner, Optimizer, Round, Step
from .term import Term
