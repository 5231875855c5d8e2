"""One small job of each kind of program that works with scikit-learn's estimators."""
