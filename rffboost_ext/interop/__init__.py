"""Our losses inside other libraries' loops."""

from .xgboost import Objective, objective

__all__ = ["Objective", "objective"]
