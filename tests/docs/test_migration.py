"""The migration page: its scripts run, and every name in its tables is one of the installed package's."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.metrics import get_scorer_names

from rffboost_ext import LOSSES, RFFBoostClassifier, RFFBoostRegressor, Tree
from rffboost_ext.boosting.metrics import named_scorer

PAGE = (Path(__file__).parents[2] / "docs" / "migration.md").read_text()
SCRIPTS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
PACKAGES = ["rffboost_ext", "xgboost", "lightgbm", "catboost", "sklearn"]
COLUMNS = {"here": "rffboost_ext", "XGBoost": "xgboost", "LightGBM": "lightgbm", "CatBoost": "catboost"}
RANDOM = np.random.default_rng(0)
X, Y = RANDOM.standard_normal((60, 3)), RANDOM.integers(1, 4, 60).astype(float)


def tables():
    """Title, column and names of each cell."""
    for section in re.split(r"^## ", PAGE, flags=re.MULTILINE)[1:]:
        rows = [line.strip("|").split("|") for line in section.splitlines() if line.startswith("|")]
        for row in rows[2:]:
            for head, cell in zip(rows[0], row, strict=True):
                package = COLUMNS.get(head.strip(), "sklearn" if head.strip() == "scikit-learn" else None)
                for name in re.findall(r"`([^`]+)`", cell) if package else ():
                    yield section.splitlines()[0], package, name


CELLS = list(tables())


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


def parameters(shell):
    """What the estimator and its fit take by name."""
    own = set(inspect.signature(shell.__init__).parameters)
    return own | set(shell().get_params()) | set(inspect.signature(shell.fit).parameters)


def small(package, shell, **params):
    """An estimator of two rounds that is silent."""
    rounds = {
        "sklearn": {"max_iter": 2},
        "catboost": {"iterations": 2, "allow_writing_files": False, "verbose": False},
    }
    quiet = {"lightgbm": {"verbose": -1}}.get(package, {})
    return shell(**(rounds.get(package, {"n_estimators": 2}) | quiet | params))


@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("title", ["Parameters of the estimators", "Parameters of fit", "Parameters of trees"])
def test_parameters_exist(title, package, capsys):
    names = {name for section, owner, name in CELLS if (section, owner) == (title, package)}
    assert names
    known = parameters(shells(package)[0])
    if package == "rffboost_ext" and title == "Parameters of trees":
        known = set(Tree().get_params())
        for prefix, learner in (("learner", "tree"), ("learner__trees", "auto")):
            for name in known:
                value = getattr(Tree(), name)
                RFFBoostClassifier(learner=learner).set_params(**{f"{prefix}__{name}": value})
    if package == "lightgbm":
        known |= understood(names - known, capsys)
    assert names <= known


VALUES = {
    "monotone_constraints": [1, 0, 0],
    "interaction_constraints": [[0, 1], [2]],
    "feature_fraction_bynode": 0.5,
}


def understood(names, capsys):
    """The names that LightGBM itself takes, beside those that its estimators list."""
    lightgbm = pytest.importorskip("lightgbm")
    known = set()
    for name in names:
        model = lightgbm.LGBMRegressor(n_estimators=2, **{"verbose": 1} | {name: VALUES.get(name, 5)})
        model.fit(X, Y, eval_set=[(X, Y)])
        if "Unknown parameter" not in capsys.readouterr().out:
            known.add(name)
    return known


def test_names_that_lightgbm_does_not_know_would_be_found(capsys):
    assert understood({"max_bin", "max_bins_of_all"}, capsys) == {"max_bin"}


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
    names = {name for section, owner, name in CELLS if (section, owner) == ("What a fitted model has", package)}
    shell = shells(package)[1]
    params = {"sklearn": {"early_stopping": True}, "xgboost": {"early_stopping_rounds": 2}}
    model = small(package, shell, **params.get(package, {}))
    model.fit(X, Y) if package == "sklearn" else model.fit(X, Y, eval_set=[(X, Y)])
    assert not [name for name in names if not hasattr(model, name)]


@pytest.mark.parametrize("package", PACKAGES)
def test_the_scripts_run(package, tmp_path):
    pytest.importorskip(package)
    first, *others = SCRIPTS
    script = next(
        one for one in others if re.search(rf"^(from|import) {package}\b(?!\.inspection)", one, re.MULTILINE)
    )
    command = [sys.executable, "-c", first + script]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    accuracy, numbers = done.stdout.splitlines()
    assert float(accuracy) > 0.93
    assert 0.0 < float(numbers.split()[0]) < 0.3
    assert len(list(tmp_path.iterdir())) == 1


def test_there_is_a_script_for_each():
    assert len(SCRIPTS) == 1 + len(PACKAGES)
