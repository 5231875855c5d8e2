"""What "auto" has chosen is told by the fitted model."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

from rffboost_ext import Decay, RFFBoostClassifier, RFFBoostRegressor, RFFNewton, average, load_model
from rffboost_ext.recipes import Facts, MemberRule, Recipe, choose_recipe

RNG = np.random.default_rng(0)
X = RNG.uniform(-2.0, 2.0, (3_100, 3))
Y = np.sin(2.0 * X[:, 0]) + (X[:, 1] > 0.5) + 0.1 * RNG.standard_normal(len(X))
TOLD = "n_folds_", "learners_", "member_names_", "learner_weights_"


@pytest.mark.parametrize("n", [300, 3_100])
def test_the_choice_by_the_number_of_rows(n, tmp_path):
    model = RFFBoostRegressor(n_estimators=12, random_state=0).fit(X[:n], Y[:n])
    recipe = choose_recipe(Facts(*X[:n].shape))
    assert model.recipe_ == recipe
    assert model.learning_rate_ == recipe.learning_rate
    assert model.n_folds_ == max(map(len, model.validation_curves_)) <= recipe.n_folds
    learners = {member.name: repr(member.learner) for member in recipe.members}
    assert [learners[name] for name in model.member_names_] == list(map(repr, model.learners_))
    assert len(model.learners_) == len(model.learner_weights_)
    assert (model.learner_weights_ > 0.0).all()
    assert model.learner_weights_.sum() == pytest.approx(1.0)
    model.save_model(tmp_path / "model")
    loaded = load_model(tmp_path / "model")
    assert (loaded.recipe_, loaded.member_names_) == (model.recipe_, model.member_names_)
    assert repr(loaded.learners_) == repr(model.learners_)
    np.testing.assert_array_equal(loaded.learner_weights_, model.learner_weights_)


def test_weights_are_those_of_the_ensemble():
    members = [MemberRule(str(k), RFFNewton(n_candidates=8, n_scored=50 + 200 * k)) for k in range(2)]
    recipe = Recipe(members, learning_rate=0.1, n_folds=2)
    model = RFFBoostRegressor(quality=recipe, n_estimators=6, random_state=0).fit(X[:400], Y[:400])
    # Each round of Newton steps has a length of the rate, and the weight of its kind is shared by its models.
    lengths = model.ensemble_.moves[:, 1]
    assert np.isin(np.round(lengths, 12), np.round(0.1 * model.learner_weights_ / 2, 12)).all()
    assert len(np.unique(lengths.round(12))) == len(model.learners_)


def test_what_is_given_is_what_is_told():
    decay = Decay(0.3)
    model = RFFBoostClassifier(
        learner="rff_newton", learning_rate=decay, n_folds=3, n_estimators=8, random_state=0
    )
    model.fit(X[:200], Y[:200] > 0.0)
    assert model.learning_rate_ is decay
    assert model.n_folds_ == 3
    assert [type(learner) for learner in model.learners_] == [RFFNewton]
    np.testing.assert_array_equal(model.learner_weights_, [1.0])


def test_only_models_of_early_stopping_tell_of_it():
    model = RFFBoostRegressor(learner="rff_newton", n_estimators=8, random_state=0).fit(X[:200], Y[:200])
    assert all(hasattr(model, name) for name in TOLD)
    other = average([model, model])
    assert not any(hasattr(other, name) for name in (*TOLD, "learning_rate_"))
    model.set_params(early_stopping=False).fit(X[:200], Y[:200])
    assert not any(hasattr(model, name) for name in TOLD)
    assert model.learning_rate_ == 0.1
    assert not hasattr(clone(model), "learning_rate_")
