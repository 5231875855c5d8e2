"""The boosting loop, its steps, and early stopping."""
