"""The migration page: its scripts run, and its names exist. Constructors explain the names of other packages."""

from __future__ import annotations

import importlib
import inspect
import pickle
import re
from pathlib import Path

import pytest
from sklearn.base import clone
from sklearn.ensemble import GradientBoostingRegressor, HistGradientBoostingRegressor
from sklearn.metrics import get_scorer_names

import rffboost_ext
from rffboost_ext import (
    LOSSES,
    ConformalRegressor,
    RFFBoostClassifier,
    RFFBoostRanker,
    RFFBoostRegressor,
    RFFBoostSurvival,
)
from rffboost_ext.utils.migration import tables

from .scripts import run_script

PAGE = (Path(__file__).parents[2] / "docs" / "migration.md").read_text()
SCRIPTS = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
PACKAGES = ["rffboost_ext", "xgboost", "lightgbm", "catboost", "sklearn"]
ROWS = [row for title in list(tables())[:3] for row in tables()[title]]
# Parameters that documentation lists, or listed, and no signature.
UNSIGNED = """lambda nthread silent seed eta alpha min_split_loss quantile_alpha huber_slope tweedie_variance_power
feval base_score init_score"""


def test_each_section_has_a_table():
    assert len(tables()) == 7
    assert all(row.elsewhere for rows in tables().values() for row in rows)
    assert all(len(rows) > 3 for rows in tables().values())


def test_names_elsewhere_exist():
    names = set(UNSIGNED.split())
    for shell in (HistGradientBoostingRegressor, GradientBoostingRegressor):
        names |= {name for method in (shell, shell.fit) for name in inspect.signature(method).parameters}
    for package, name in (
        ("xgboost", "XGBRegressor"),
        ("catboost", "CatBoostClassifier"),
        ("lightgbm", "LGBMModel"),
    ):
        module = pytest.importorskip(package)
        for function in (getattr(module, name), getattr(module, name).fit, module.train):
            names |= set(inspect.signature(function).parameters)
    aliases = importlib.import_module("lightgbm.basic")._ConfigAliases._get_all_param_aliases()
    names |= {*aliases, *(alias for group in aliases.values() for alias in group)}
    names |= set(importlib.import_module("xgboost").XGBRegressor().get_params())
    assert {name for row in ROWS for name in row.elsewhere} <= names


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.here)
def test_names_here_exist(row):
    scope = {"Tree": rffboost_ext.Tree} | vars(rffboost_ext.losses)
    values = {"loss": "'quantile'", "eval_metric": "'accuracy'", "class_weight": "{1: 2.0}"}
    call, _, name = row.here.partition("(")
    if call == "fit":
        names = inspect.signature(RFFBoostClassifier.fit).parameters
        assert re.search(r"(\w+)=", name)[1] in names
        return
    text = row.here.replace("Huber(...)", "Huber(1.0)").replace("Quantile(...)", "Quantile(0.5)")
    text = (
        text.replace("Tweedie(...)", "Tweedie(1.5)").replace("{1: ...}", "{1: 2.0}").replace("{...}", "{1: 2.0}")
    )
    key = text.partition("=")[0]
    text = text.replace("...", values.get(key, "1"))
    eval(
        text if call == "Tree" else f"RFFBoostClassifier({text})",
        scope | {"RFFBoostClassifier": RFFBoostClassifier},
    )


@pytest.mark.parametrize(("title", "choices"), [("Objectives", LOSSES.names()), ("Metrics", None)])
def test_losses_and_metrics_here_exist(title, choices):
    assert {row.here for row in tables()[title]} <= set(choices or [*LOSSES.names(), *get_scorer_names()])


@pytest.mark.parametrize(
    ("shell", "params", "advice"),
    [
        (RFFBoostClassifier, {"eta": 0.1}, ["'eta' (use learning_rate=...)"]),
        (RFFBoostRegressor, {"alpha": 0.1}, ["'alpha' (use loss=Quantile(...) or learner=Tree(reg_alpha=...))"]),
        (
            RFFBoostSurvival,
            {"max_depth": 3, "evals": 1},
            ["learner=Tree(max_depth=...)", "fit(X, y, eval_set=...)"],
        ),
        (ConformalRegressor, {"random_stat": 0}, ["'random_stat' (use random_state=...)"]),
        (RFFBoostRegressor, {"nothing_like_it": 0}, ["(the parameters are loss,", "n_estimators"]),
        (RFFBoostRegressor, {"device": "cuda"}, ["'device' (there is none: CPU only"]),
        (RFFBoostClassifier, {"boosting_type": "dart"}, ['use learner="tree": neither DART nor linear boosters']),
        (RFFBoostRegressor, {"importance_type": "gain"}, ["shares of the explained variance"]),
    ],
)
def test_constructors_explain_unknown_parameters(shell, params, advice):
    with pytest.raises(TypeError) as raised:
        shell(**params)
    assert all(text in str(raised.value) for text in [f"{shell.__name__}: unknown", *advice])


@pytest.mark.parametrize(
    ("part", "advice"), [("learner", "such as learner=Tree(max_depth=...)"), ("loss", "loss must be")]
)
def test_constructors_explain_unknown_nested_parameters(part, advice):
    with pytest.raises(ValueError, match="Invalid parameter 'max_depth'") as raised:
        RFFBoostRegressor(**{f"{part}__max_depth": 3})
    assert advice in str(raised.value)


ARGUMENTS = [
    ("fit", {"early_stopping_rounds": 5}, "use RFFBoostRegressor(n_iter_no_change=...)"),
    ("fit", {"verbose": True}, "use RFFBoostRegressor(verbose=...)"),
    ("fit", {"cat_features": [0]}, "use RFFBoostRegressor(categorical_features=...)"),
    ("fit", {"valid_sets": []}, "use fit(X, y, eval_set=...)"),
    ("predict", {"raw_score": True}, "use raw_scores(X)"),
    ("predict", {"num_iteration": 3}, "use staged_predict(X)"),
    ("predict", {"pred_contrib": True}, "use shap_values(X, background)"),
    ("predict", {"base_margins": 0}, "use base_margin=..."),
]


@pytest.mark.parametrize(("method", "params", "advice"), ARGUMENTS)
def test_methods_explain_unknown_arguments(method, params, advice):
    with pytest.raises(TypeError, match=re.escape(f"RFFBoostRegressor.{method}: unknown parameters")) as raised:
        getattr(RFFBoostRegressor(), method)([[0.0]], **params)
    assert advice in str(raised.value)


@pytest.mark.parametrize(
    ("shell", "params", "here", "others"),
    [
        (RFFBoostRegressor, {"loss": "RMSE"}, "squared_error", "cox"),
        (RFFBoostRegressor, {"loss": "Quantile:alpha=0.9"}, "quantile", "log_loss"),
        (RFFBoostClassifier, {"loss": "binary:logistic"}, "log_loss", "squared_error"),
        (RFFBoostSurvival, {"loss": "survival:cox"}, "cox", "log_loss"),
        (RFFBoostSurvival, {"loss": "weibull"}, "aft_extreme", "squared_error"),
        (RFFBoostRanker, {"loss": "rank:ndcg"}, "lambdarank", "squared_error"),
        (RFFBoostRegressor, {"eval_metric": "mae"}, "neg_mean_absolute_error", ""),
    ],
)
def test_losses_and_metrics_are_translated(shell, params, here, others):
    X, y = [[float(i)] for i in range(9)], [1.0 + i % 2 for i in range(9)]
    queries = {"qid": [0] * 9, "eval_qid": [[0] * 9]} if shell is RFFBoostRanker else {}
    with pytest.raises(ValueError, match=f"Did you mean '{here}'") as raised:
        shell(**params).fit(X, y, eval_set=[(X, y)], **queries)
    assert not others or others not in str(raised.value).partition("Registered")[2]


@pytest.mark.parametrize("name", ["max_depth", "learner__max_depth"])
def test_set_params_explains_unknown_parameters(name):
    with pytest.raises(ValueError, match=r"Invalid parameter 'max_depth'.*learner=Tree\(max_depth="):
        RFFBoostClassifier().set_params(**{name: 3})
    assert RFFBoostClassifier(learner="tree").set_params(learner__max_depth=3).learner.max_depth == 3


@pytest.mark.parametrize("shell", [RFFBoostClassifier, RFFBoostSurvival, ConformalRegressor])
def test_signatures_stay_as_they_are(shell):
    kinds = {parameter.kind for parameter in inspect.signature(shell).parameters.values()}
    assert not kinds & {inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL}
    model = shell(random_state=3)
    assert repr(clone(model)) == repr(pickle.loads(pickle.dumps(model))) == f"{shell.__name__}(random_state=3)"


@pytest.mark.parametrize("package", PACKAGES)
def test_the_scripts_run(package, tmp_path):
    pytest.importorskip(package)
    first, *others = SCRIPTS
    assert len(others) == len(PACKAGES)
    script = next(
        one for one in others if re.search(rf"^(from|import) {package}\b(?!\.inspection)", one, re.MULTILINE)
    )
    accuracy, numbers = run_script(first + script, tmp_path).splitlines()
    assert float(accuracy) > 0.93
    assert 0.0 < float(numbers.split()[0]) < 0.3
    assert len(list(tmp_path.iterdir())) == 1
