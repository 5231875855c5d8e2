"""Parts of an estimator: what "auto" stands for, and which go together."""

from __future__ import annotations

import numpy as np
import pytest

from rffboost_ext import LEARNERS, Observations, RFFBoostClassifier, RFFBoostRegressor
from rffboost_ext.estimators.composition import compose


@pytest.mark.parametrize(
    ("estimator", "loss"), [(RFFBoostClassifier(), "LogLoss()"), (RFFBoostRegressor(), "SquaredError()")]
)
def test_defaults(estimator, loss):
    parts = compose(estimator)
    assert repr(parts.loss) == loss
    assert repr(parts.learner) == "Mixture()"


def test_regression_losses_are_wrapped_for_labels():
    assert repr(compose(RFFBoostClassifier("huber")).loss) == "LabelRegression(loss=Huber())"


@pytest.mark.parametrize("learner", ["rff_newton", "tree", "rff_ridge"])
def test_a_further_learner_has_a_step_of_its_own(learner):
    parts = compose(RFFBoostClassifier("exponential", "rff_1"))
    assert type(parts.step).__name__ == "ConfidenceRated"
    further = parts.with_learner(LEARNERS.create(learner))
    assert type(further.step).__name__ != "ConfidenceRated"
    assert further.loss is parts.loss


def test_parts_are_checked_for_the_number_of_outputs():
    rows = Observations((np.arange(6) % 3.0)[:, None], np.ones(6))
    parts = compose(RFFBoostClassifier(learner="rff_1"))
    with pytest.raises(ValueError, match="the loss has 3 outputs and the learner fits one"):
        parts.prepared(rows, 3)
