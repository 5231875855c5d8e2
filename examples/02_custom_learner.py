"""A weak learner of your own: a linear ridge, which returns its own kind of term, used by name in a grid search.

A learner maps the state of a round to a term; a term is a function of X that can be scaled and summed. Both are
plain NumPy here. Losses, steps, early stopping and staged predictions work with them without further code.
"""

from dataclasses import dataclass, replace

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, train_test_split

from rffboost_ext import LEARNERS, Learner, RFFBoostClassifier, Term


@dataclass(frozen=True)
class Linear(Term):
    """``x -> x . slope + intercept``, with slope (d, C) and intercept (C,)."""

    slope: np.ndarray
    intercept: np.ndarray

    def __call__(self, X):
        return X @ self.slope + self.intercept

    def scaled(self, factor):
        return replace(self, slope=factor * self.slope, intercept=factor * self.intercept)

    @classmethod
    def stack(cls, terms):
        return cls(sum(term.slope for term in terms), sum(term.intercept for term in terms))


@LEARNERS.register("linear_ridge")
class LinearRidge(Learner):
    """Weighted ridge regression on the residuals.

    Parameters
    ----------
    l2 : float, default=1.0
        Penalty on the squared norm of the slope, as a share of the number of rows.
    """

    multi_output = True  # `fit` takes residuals of any number of columns

    def __init__(self, l2=1.0):
        self.l2 = l2

    def fit(self, round):
        # round.design.X are the standardised features, round.residual is the negative gradient, (n, C).
        X, residual, weight = round.design.X, round.residual, round.weight[:, None]
        total = weight.sum()
        center, intercept = (weight * X).sum(axis=0) / total, (weight * residual).sum(axis=0) / total
        Z = X - center
        penalty = self.l2 * total * np.eye(X.shape[1])
        slope = np.linalg.solve(Z.T @ (weight * Z) + penalty, Z.T @ (weight * residual))
        return Linear(slope, intercept - center @ slope)


X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)

# By name; the step is chosen to suit the loss.
by_name = RFFBoostClassifier(learner="linear_ridge", n_estimators=50).fit(X_train, y_train)
print(f"by name: test accuracy {by_name.score(X_test, y_test):.3f}")

# By instance, its hyperparameter tuned like any other.
model = RFFBoostClassifier(loss="exponential", learner=LinearRidge(), step="line_search", n_estimators=50)
search = GridSearchCV(model, {"learner__l2": [0.01, 1.0, 100.0]}, cv=3).fit(X_train, y_train)
print(f"tuned: {search.best_params_}, test accuracy {search.score(X_test, y_test):.3f}")

# Fifty linear terms are one linear term, of the imputed and standardised features.
(term,) = search.best_estimator_.ensemble_.compact().terms
inner = term.innermost
print(f"50 rounds compact to one {type(inner).__name__} of {len(inner.slope)} features")
