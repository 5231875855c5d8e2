"""The scikit-learn estimators and their defaults."""
