"""Feature importances, Shapley values and displays of fitted models."""
