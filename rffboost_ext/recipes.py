"""Recipes: what a fit with early stopping trains, as values that ``quality`` takes."""

from .boosting.early_stopping.patience import Condition, Patience, PatienceLimit, TrainingCondition
from .estimators.defaults import choose_recipe
from .estimators.recipe import Facts, MemberRule, Recipe

__all__ = [
    "Condition",
    "Facts",
    "MemberRule",
    "Patience",
    "PatienceLimit",
    "Recipe",
    "TrainingCondition",
    "choose_recipe",
]
