"""scikit-learn's own checks, for every registered loss with every registered learner that goes with it."""

from __future__ import annotations

from sklearn.utils.estimator_checks import parametrize_with_checks

from rffboost_ext import LEARNERS, LOSSES, RFFBoostClassifier, RFFBoostRegressor

from .cases import goes_with


def estimators():
    """Classifiers take regression losses too (on labels -1 and 1)."""
    for loss in LOSSES.names():
        for learner in LEARNERS.names():
            made = LOSSES.create(loss), LEARNERS.create(learner)
            if not goes_with(*made):
                continue
            params = {
                "loss": loss,
                "learner": learner,
                "n_estimators": 10,
                "learning_rate": 0.5,
                "random_state": 0,
            }
            yield RFFBoostClassifier(**params)
            if made[0].task == "regression":
                yield RFFBoostRegressor(**params)


@parametrize_with_checks(list(estimators()))
def test_scikit_learn_accepts(estimator, check):
    check(estimator)
