"""Data that the tests of displays share."""

from __future__ import annotations

from sklearn.datasets import make_friedman1

X, Y = make_friedman1(200, n_features=6, random_state=0)
NAMES = list("abcdef")
