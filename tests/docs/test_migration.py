"""The migration page: its scripts run, and every name in its tables is one of the installed package's."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
)
from sklearn.metrics import get_scorer_names

from docs.migration_tables import with_tables
from rffboost_ext import LOSSES, RFFBoostClassifier, RFFBoostRegressor, Tree
from rffboost_ext.boosting.metrics import named_scorer
from rffboost_ext.utils.migration_table import TABLE, Place

from .scripts import run_script

PAGE = (Path(__file__).parents[2] / "docs" / "migration.md").read_text()
SCRIPTS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
PACKAGES = ["rffboost_ext", "xgboost", "lightgbm", "catboost", "sklearn"]
RANDOM = np.random.default_rng(0)
X, Y = RANDOM.standard_normal((60, 3)), RANDOM.integers(1, 4, 60).astype(float)
# Titles, packages and names of the tables.
CELLS = [
    (row.place.value, package, name)
    for row in TABLE
    for package, names in {"rffboost_ext": [row.here], **row.names}.items()
    for name in names
]


def test_the_page_shows_the_table():
    assert with_tables(PAGE) == PAGE


def shells(package):
    """Classifier and regressor of a package."""
    if package == "rffboost_ext":
        return RFFBoostClassifier, RFFBoostRegressor
    if package == "sklearn":
        return HistGradientBoostingClassifier, HistGradientBoostingRegressor
    module, prefix = (
        pytest.importorskip(package),
        {"xgboost": "XGB", "lightgbm": "LGBM", "catboost": "CatBoost"}[package],
    )
    return getattr(module, f"{prefix}Classifier"), getattr(module, f"{prefix}Regressor")


def estimators(package):
    """All boosting estimators of a package for classes and real targets."""
    return [*shells(package), *([GradientBoostingClassifier, GradientBoostingRegressor] * (package == "sklearn"))]


def parameters(shell, *methods):
    """The names of the parameters of an estimator and of some of its methods."""
    functions = [shell.__init__, *(getattr(shell, method) for method in methods)]
    names = {name for function in functions for name in inspect.signature(function).parameters}
    return (names | set(shell().get_params())) - {"self", "X", "y", "data", "kwargs"}


# Parameters of XGBoost that its documentation lists, or listed, and no signature.
NATIVE = """
lambda nthread silent seed num_class predictor process_type updater refresh_leaf max_cached_hist_node eta alpha
gpu_id n_gpus min_split_loss rate_drop skip_drop one_drop sample_type normalize_type feature_selector
quantile_alpha huber_slope tweedie_variance_power aft_loss_distribution lambdarank_num_pair_per_sample
lambdarank_pair_method ndcg_exp_gain disable_default_eval_metric seed_per_iteration use_label_encoder
ntree_limit pred_leaf pred_contribs pred_interactions approx_contribs feval group qid
"""


def known_parameters(package):
    """All parameters that a package knows, aliases too."""
    names = set().union(*(parameters(shell, "fit", "predict") for shell in estimators(package)))
    if package != "sklearn":
        names |= set(inspect.signature(importlib.import_module(package).train).parameters)
    if package == "xgboost":
        names |= set(NATIVE.split())
    if package == "lightgbm":
        for name, aliases in (
            importlib.import_module("lightgbm.basic")._ConfigAliases._get_all_param_aliases().items()
        ):
            names |= {name, *aliases}
    return names


def small(package, shell, **params):
    """An estimator of two rounds that is silent."""
    rounds = {
        "sklearn": {"max_iter": 2},
        "catboost": {"iterations": 2, "allow_writing_files": False, "verbose": False},
    }
    quiet = {"lightgbm": {"verbose": -1}}.get(package, {})
    return shell(**(rounds.get(package, {"n_estimators": 2}) | quiet | params))


# What is data, or the whole of the parameters, in the functions that train without an estimator.
DATA = {"self", "X", "y", "data", "kwargs"}
OF_TRAINING = {"params", "dtrain", "train_set", "pool", "obj", "evals_result", "kwargs"}
PARAMETERS = [place.value for place in (Place.ESTIMATOR, Place.FIT, Place.TREES, Place.PREDICT, Place.NOWHERE)]


@pytest.mark.parametrize("package", PACKAGES[1:])
def test_the_table_has_the_parameters_of_each_package_and_no_others(package):
    pytest.importorskip(package)
    names = {name for title, owner, name in CELLS if title in PARAMETERS and owner == package}
    own = parameters(RFFBoostClassifier, "fit")
    known = known_parameters(package) - OF_TRAINING
    assert known - names - own == set()
    assert names - known == set()


def test_our_names_are_ours():
    for title, known in (
        (Place.ESTIMATOR, parameters(RFFBoostClassifier)),
        (Place.FIT, parameters(RFFBoostClassifier, "fit")),
        (Place.TREES, set(Tree().get_params())),
        (Place.PREDICT, set(dir(RFFBoostClassifier))),
    ):
        assert {row.here for row in TABLE if row.place is title} <= known
    for prefix, learner in (("learner", "tree"), ("learner__trees", "auto")):
        for name, value in Tree().get_params().items():
            RFFBoostClassifier(learner=learner).set_params(**{f"{prefix}__{name}": value})


TITLES = {"xgboost": "XGBoost", "lightgbm": "LightGBM", "catboost": "CatBoost", "sklearn": "scikit-learn"}


@pytest.mark.parametrize("package", TITLES)
def test_each_parameter_of_each_estimator_is_ours_or_has_a_hint(package):
    pytest.importorskip(package)
    own = parameters(RFFBoostClassifier, "fit")
    for shell in estimators(package):
        for name in parameters(shell) - own:
            for call in (RFFBoostClassifier, RFFBoostClassifier().set_params):
                with pytest.raises(TypeError, match=rf"{name} is .*{TITLES[package]}'s.* name: \w+ "):
                    call(**{name: 1})


@pytest.mark.parametrize("package", TITLES)
@pytest.mark.parametrize("method", ["fit", "predict"])
def test_each_parameter_of_each_method_is_ours_or_has_a_hint(package, method):
    pytest.importorskip(package)
    model = RFFBoostClassifier(learner="tree", n_estimators=1).fit(X, Y)
    own = set(inspect.signature(getattr(model, method)).parameters)
    for shell in estimators(package):
        for name in set(inspect.signature(getattr(shell, method)).parameters) - own - DATA:
            text = rf"{name} is (a parameter of the estimator|.*{TITLES[package]}'s.* name)"
            with pytest.raises(TypeError, match=text):
                getattr(model, method)(X, **{name: 1})


def test_best_rounds_are_counted_as_the_page_says():
    X_train, X_valid, y_train, y_valid = X[:40], X[40:], X[:40, 0] > 0.0, X[40:, 0] > 0.0
    xgboost, catboost = shells("xgboost")[0], shells("catboost")[0]
    lightgbm = shells("lightgbm")[0]
    watch = {"eval_set": [(X_valid, y_valid)]}
    one = xgboost(n_estimators=30, early_stopping_rounds=5, n_jobs=1).fit(X_train, y_train, verbose=False, **watch)
    assert one.best_iteration == np.argmin(one.evals_result()["validation_0"]["logloss"])
    two = catboost(iterations=30, early_stopping_rounds=5, verbose=False, allow_writing_files=False)
    two.fit(X_train, y_train, **watch)
    assert two.best_iteration_ == np.argmin(two.get_evals_result()["validation"]["Logloss"])
    three = lightgbm(n_estimators=30, early_stopping_round=5, verbose=-1, min_child_samples=2)
    three.fit(X_train, y_train, **watch)
    assert three.best_iteration_ == np.argmin(three.evals_result_["valid_0"]["binary_logloss"]) + 1


@pytest.mark.parametrize(("package", "name"), [(o, n) for s, o, n in CELLS if s == "Objectives"])
def test_objectives_exist(package, name):
    if package == "rffboost_ext":
        assert name in LOSSES.names()
        return
    classified = any(word in name.lower() for word in ("log", "binary", "multi"))
    shell = shells(package)[0 if classified and "pseudo" not in name else 1]
    if (package, name) in (("sklearn", "huber"), ("sklearn", "exponential")):
        GradientBoostingRegressor(loss=name) if name == "huber" else GradientBoostingClassifier(loss=name)
        return
    key = {"sklearn": "loss", "catboost": "loss_function"}.get(package, "objective")
    more = {"quantile": 0.5} if (package, name) == ("sklearn", "quantile") else {}
    more |= {"quantile_alpha": 0.5} if name == "reg:quantileerror" else {}
    target = Y - 1 if name.lower().startswith("multi") else Y > 2 if classified else Y
    small(package, shell, **{key: name}, **more).fit(X, target)


@pytest.mark.parametrize(("package", "name"), [(o, n) for s, o, n in CELLS if s == "Metrics"])
def test_metrics_exist(package, name):
    if package == "rffboost_ext":
        assert name in LOSSES.names() or name in get_scorer_names()
        assert name in LOSSES.names() or named_scorer(name)
        return
    classifies = not any(word in name.lower() for word in ("rmse", "mae", "mape", "r2"))
    several = (name.startswith("m") and "log" in name) or name in (
        "merror",
        "multi_error",
        "multi_logloss",
        "MultiClass",
    )
    target = Y - 1 if several else Y > 2 if classifies else Y
    shell = shells(package)[0 if classifies else 1]
    if package == "lightgbm":
        small(package, shell).fit(X, target, eval_set=[(X, target)], eval_metric=name)
        return
    small(package, shell, eval_metric=name).fit(X, target, eval_set=[(X, target)])


@pytest.mark.parametrize("package", PACKAGES)
def test_attributes_exist(package):
    names = {name for title, owner, name in CELLS if (title, owner) == (Place.FITTED.value, package)}
    table, params = (
        pd.DataFrame(X, columns=["a", "b", "c"]),
        {"sklearn": {}, "xgboost": {"early_stopping_rounds": 2}},
    )
    model = small(package, shells(package)[1], **params.get(package, {}))
    if package == "sklearn":
        known = {*dir(model.set_params(early_stopping=True).fit(table, Y))}
        known |= {*dir(GradientBoostingRegressor(n_estimators=2, validation_fraction=0.5).fit(table, Y))}
    else:
        model.fit(table[:40], Y[:40], eval_set=[(table[40:], Y[40:])])
        # Versions before 2.0 of XGBoost had the number of trees for predictions.
        known = {name for name in names if hasattr(model, name)} | {"best_ntree_limit"}
    assert names <= known


@pytest.mark.parametrize("package", PACKAGES)
def test_the_scripts_run(package, tmp_path):
    pytest.importorskip(package)
    first, *others = SCRIPTS
    script = next(
        one for one in others if re.search(rf"^(from|import) {package}\b(?!\.inspection)", one, re.MULTILINE)
    )
    accuracy, numbers = run_script(first + script, tmp_path).splitlines()
    assert float(accuracy) > 0.93
    assert 0.0 < float(numbers.split()[0]) < 0.3
    assert len(list(tmp_path.iterdir())) == 1


def test_there_is_a_script_for_each():
    assert len(SCRIPTS) == 1 + len(PACKAGES)
