"""A published method composed outside the package: PBRFF (Letarte et al., AISTATS 2019) from the core's parts.

PBRFF learns a similarity to each of L landmarks, and fits a linear SVM to these. A similarity is a sum
of random cosines, weighted by how well each alone separates the landmark's class from the others. Here that is one
round per landmark, with given placements, the paper's loss as fit criterion and the posterior weighting. The step
"zero" leaves the scores unchanged, so that every landmark is fitted to the same labels. Two small classes are new.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from rffboost_ext import RFFK, boost
from rffboost_ext.learners import FitCriterion, Placement


class AtRow(Placement):
    """The landmark of round t is row rows[t] of the training data."""

    def __init__(self, rows):
        self.rows = rows

    def place(self, round, omega, objective, optimizer):
        return round.design.X[self.rows[round.index]]


class Alignment(FitCriterion):
    """``(1 - s h) / 2``, where s is 1 on rows of the landmark's class and -1 on the others."""

    def __init__(self, rows):
        self.rows = rows

    def __call__(self, round, output):
        sign = np.where(round.y[:, 0] == round.y[self.rows[round.index], 0], 1.0, -1.0)
        return 0.5 * (1.0 - sign * output), np.broadcast_to(-0.5 * sign, output.shape)


X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, stratify=y, random_state=0)
scaler = StandardScaler().fit(X_train)
A, B = scaler.transform(X_train), scaler.transform(X_test)

rows = np.random.default_rng(0).choice(len(A), 100)
learner = RFFK(
    n_components=10, placement=AtRow(rows), fit_criterion=Alignment(rows), weighting="posterior", beta=1.0
)
landmarks = boost(
    A,
    y_train[:, None].astype(float),
    loss="squared_error",
    learner=learner,
    step="zero",
    n_estimators=len(rows),
    random_state=0,
)


def similarities(Z):
    """One column per landmark."""
    return np.hstack([term(Z) for term in landmarks.terms])


svm = LinearSVC().fit(similarities(A), y_train)
print(f"built here: test accuracy {svm.score(similarities(B), y_test):.3f}")

# The same with uniform weights, a Monte Carlo estimate of the kernel at each landmark.
prior = learner.set_params(weighting="uniform")
landmarks = boost(A, y_train[:, None] * 1.0, loss="squared_error", learner=prior, step="zero", random_state=0)
svm = LinearSVC().fit(similarities(A), y_train)
print(f"weights not learned: test accuracy {svm.score(similarities(B), y_test):.3f}")
