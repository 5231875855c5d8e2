"""Checks of users' own losses, learners and terms, as scikit-learn's ``check_estimator`` is for estimators."""

from .learners import check_learner
from .losses import check_loss
from .terms import check_term

__all__ = ["check_learner", "check_loss", "check_term"]
