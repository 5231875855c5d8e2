"""Names of other libraries raise errors that say what they are here."""

from __future__ import annotations

import copy
import inspect
import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from rffboost_ext import (
    LOSSES,
    RFF1,
    ConformalRegressor,
    Mixture,
    RFFBoostClassifier,
    RFFBoostQuantileRegressor,
    RFFBoostRegressor,
    Tree,
)
from rffboost_ext.losses import Quantile
from rffboost_ext.utils.migration_hints import UnknownParameterError

X = np.random.default_rng(0).standard_normal((40, 3))
Y = (X[:, 0] > 0.0).astype(int)
ESTIMATORS = [RFFBoostClassifier, RFFBoostRegressor, RFFBoostQuantileRegressor, ConformalRegressor]
# What each call passes, and what to write instead.
CONSTRUCTED = [
    ({"eta": 0.2}, "learning_rate=0.2"),
    ({"num_boost_round": 7}, "n_estimators=7"),
    ({"early_stopping_rounds": 9}, "n_iter_no_change=9"),
    ({"nthread": 2}, "n_jobs=2"),
    ({"objective": "count:poisson"}, "loss='poisson'"),
    ({"metric": "binary_logloss"}, "eval_metric='log_loss'"),
    ({"scale_pos_weight": 3.0}, "class_weight={1: 3.0}"),
    ({"is_unbalance": True}, 'class_weight="balanced"'),
    ({"max_depth": 4}, "learner=Tree(max_depth=4)"),
    ({"max_depth": 4, "lambda": 2.0}, "learner=Tree(max_depth=4, reg_lambda=2.0)"),
    ({"num_leaves": 31}, "learner=Mixture(trees=Tree(max_leaves=31))"),
]


@pytest.mark.parametrize(("given", "text"), CONSTRUCTED)
def test_what_to_write_instead_works(given, text):
    with pytest.raises(TypeError) as raised:
        RFFBoostClassifier(**given)
    assert text in str(raised.value)
    assert all(f"{name} is " in str(raised.value) for name in given)
    eval(f"RFFBoostClassifier({text})", {**globals()})


def test_values_in_another_unit_do_not_carry_over():
    with pytest.raises(TypeError, match=r"Tree\(min_child_weight=\.\.\.\).*a sum of hessians"):
        RFFBoostClassifier(min_data_in_leaf=20)
    with pytest.raises(TypeError, match=r"learning_rate=\.\.\."):
        RFFBoostClassifier(eta=None)


def test_a_name_of_two_libraries_has_both_meanings():
    with pytest.raises(
        TypeError, match=r"LightGBM's and scikit-learn's name: pass loss=Quantile\(0\.9\)"
    ) as raised:
        RFFBoostRegressor(alpha=0.9)
    assert "alpha is XGBoost's name: pass learner=Tree(reg_alpha=0.9)" in str(raised.value)


@pytest.mark.parametrize(
    ("given", "text"),
    [
        (
            {"verbose": False},
            r"a parameter of the estimator, not of fit: pass RFFBoostClassifier\(verbose=False\)",
        ),
        ({"eval_metric": "auc"}, r"pass RFFBoostClassifier\(eval_metric='auc'\)"),
        ({"early_stopping_rounds": 5}, r"pass RFFBoostClassifier\(n_iter_no_change=5\)"),
        ({"xgb_model": "a"}, r"XGBoost's name: pass init_model='a'"),
        ({"init_score": [1.0]}, r"LightGBM's name: pass base_margin=\[1\.0\]"),
        ({"eval_sample_weight": [1.0]}, r"LightGBM's name: pass eval_set=\[\(X_valid, y_valid, weight\)\]"),
        ({"cat_features": [0]}, r"CatBoost's name: pass RFFBoostClassifier\(categorical_features=\[0\]\)"),
        ({"device": "cuda"}, "no counterpart here .*the CPU"),
        (
            {"weights": None},
            r"RFFBoostClassifier\.fit\(\) got an unexpected .* 'weights'\. Did you mean 'sample_weight'\?",
        ),
    ],
)
def test_fit_says_where_a_parameter_belongs(given, text):
    with pytest.raises(TypeError, match=text):
        RFFBoostClassifier().fit(X, Y, **given)


@pytest.mark.parametrize(
    ("method", "given", "text"),
    [
        ("predict", {"ntree_limit": 3}, r"XGBoost's name: call staged_predict\(X\)"),
        ("predict_proba", {"num_iteration": 3}, r"LightGBM's name: call staged_predict\(X\)"),
        ("predict", {"output_margin": True}, r"XGBoost's name: call raw_scores\(X\)"),
        ("predict", {"pred_contrib": True}, r"LightGBM's name: call shap_values\(X, background\)"),
        ("predict", {"thread_count": 2}, r"CatBoost's name: pass RFFBoostClassifier\(n_jobs=2\)"),
    ],
)
def test_predict_says_which_method_it_is(method, given, text):
    with pytest.raises(TypeError, match=text):
        getattr(RFFBoostClassifier(), method)(X, **given)


def test_set_params_and_searches_say_the_same():
    text = 'set learner__max_depth=2 with learner="tree", or learner__trees__max_depth=2 with the default learner'
    for error in (TypeError, ValueError):
        with pytest.raises(error, match=text):
            RFFBoostClassifier().set_params(max_depth=2)
    with pytest.raises(TypeError, match=text):
        GridSearchCV(RFFBoostClassifier(), {"max_depth": [2, 3]}).fit(X, Y)
    piped = make_pipeline(RFFBoostClassifier())
    with pytest.raises(TypeError, match=r"learning_rate=0\.1"):
        GridSearchCV(piped, {"rffboostclassifier__eta": [0.1, 0.2]}).fit(X, Y)
    # The names in the hint are searched.
    for model, name in ((RFFBoostClassifier("auto", "tree"), "learner"), (RFFBoostClassifier(), "learner__trees")):
        model.set_params(**{f"{name}__max_depth": 2})


def test_parts_say_it_too():
    with pytest.raises(TypeError, match=r"Tree: num_leaves is LightGBM's and CatBoost's name: pass max_leaves=31"):
        Tree(num_leaves=31)
    with pytest.raises(TypeError, match=r"Tree: eta is .*: pass RFFBoostClassifier\(learning_rate=0\.1\)"):
        Tree(eta=0.1)
    with pytest.raises(TypeError, match=r"Mixture: max_depth is .*: pass trees=Tree\(max_depth=3\)"):
        Mixture(max_depth=3)
    with pytest.raises(TypeError, match=r"Mixture: max_depth is .*: set trees__max_depth=3"):
        RFFBoostClassifier().set_params(learner__max_depth=3)
    with pytest.raises(TypeError, match=r"Tree: num_leaves is .*: pass max_leaves=3"):
        RFFBoostClassifier(learner="tree").set_params(learner__num_leaves=3)
    with pytest.raises(TypeError, match=r"Invalid parameter 'alpha' for estimator Quantile\(\)"):
        Quantile().set_params(alpha=0.9)
    with pytest.raises(TypeError, match=r"Invalid parameter 'gama' for estimator RFF1\(\)\. Did you mean 'gamma'"):
        RFF1().set_params(gama=1.0)


@pytest.mark.parametrize("shell", [RFFBoostQuantileRegressor, ConformalRegressor])
def test_estimators_around_a_booster_pass_it_on(shell):
    for call in (shell, shell().set_params):
        with pytest.raises(TypeError, match=r"pass estimator=RFFBoostRegressor\(n_estimators=5\)"):
            call(n_estimators=5)
    with pytest.raises(TypeError, match=r"pass estimator=RFFBoostRegressor\(learner=Tree\(max_depth=5\)\)"):
        shell(max_depth=5)


@pytest.mark.parametrize("shell", ESTIMATORS)
def test_unknown_names_are_named_with_close_and_valid_ones(shell):
    with pytest.raises(
        TypeError, match=rf"{shell.__name__}.__init__.. got an .* 'random_stat'.*'random_state'"
    ) as raised:
        shell(random_stat=0)
    assert all(f"'{name}'" in str(raised.value) for name in shell().get_params(deep=False))
    with pytest.raises(ValueError, match="'nothing__like__it'"):
        shell().set_params(nothing__like__it=0)


@pytest.mark.parametrize("shell", ESTIMATORS)
def test_signatures_stay_as_they_are(shell):
    # Conformal regressors pass on what is for the fit of their regressor.
    for function in (shell, shell.predict, *([shell.fit] * (shell is not ConformalRegressor))):
        kinds = {parameter.kind for parameter in inspect.signature(function).parameters.values()}
        assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    model = shell(random_state=3)
    for again in (clone(model), copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert repr(again) == repr(model)
    with pytest.raises(TypeError, match=rf"{shell.__name__}.__init__\(\) takes from"):
        shell(*range(30))


def test_a_conformal_regressor_passes_on_what_its_regressor_knows():
    model = ConformalRegressor(RFFBoostRegressor(learner="tree", n_estimators=1))
    model.fit(X, X[:, 0], eval_set=[(X, X[:, 0])])
    assert hasattr(model.estimator_, "evals_result_")
    with pytest.raises(TypeError, match="RFFBoostRegressor: verbose is a parameter of the estimator, not of fit"):
        model.fit(X, X[:, 0], verbose=True)


def test_attributes_of_other_libraries_are_named():
    model = RFFBoostClassifier(learner="tree", n_estimators=1).fit(X, Y)
    for name, here in (
        ("booster_", "LightGBM's name: use ensemble_"),
        ("best_ntree_limit", "XGBoost's name: use n_estimators_"),
        ("feature_name_", "LightGBM's name: use feature_names_in_"),
        ("get_booster", "XGBoost's name: use ensemble_"),
    ):
        with pytest.raises(AttributeError, match=here):
            getattr(model, name)
        assert not hasattr(model, name)
    with pytest.raises(AttributeError, match="'RFFBoostClassifier' object has no attribute 'nothing'"):
        model.nothing  # noqa: B018
    # A property keeps the error that it raises itself.
    model._importances = None
    with pytest.raises(AttributeError, match="feature_importances_ needs the rows of a fit"):
        model.feature_importances_  # noqa: B018


def test_the_error_passes_between_processes():
    with pytest.raises(UnknownParameterError) as raised:
        RFFBoostClassifier(eta=0.1)
    assert str(pickle.loads(pickle.dumps(raised.value))) == str(raised.value)


def test_losses_of_other_libraries_are_named():
    for name, here in (
        ("binary:logistic", "log_loss"),
        ("reg:squarederror", "squared_error"),
        ("MAE", "absolute_error"),
    ):
        with pytest.raises(ValueError, match=f"unknown loss '{name}'. Did you mean '{here}'"):
            LOSSES.create(name)


def test_hints_know_of_mixtures_and_losses():
    assert Mixture(trees=Tree(max_depth=4)).trees.max_depth == 4
    assert Quantile(0.9).quantile == 0.9
