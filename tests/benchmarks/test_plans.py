"""Every study of the benchmarks: a tiny plan from the command line to its report, and again."""

from __future__ import annotations

import runpy
import sys
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from multiprocessing.pool import ThreadPool
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from xgboost import XGBClassifier

from benchmarks import defaults, distributions, published, ranking, refresh, sparse, study, tables, unbalanced
from benchmarks.command import data_folder
from benchmarks.records import Records
from benchmarks.splits import Rows
from rffboost_ext import RFFBoostRanker, RFFBoostRegressor
from rffboost_ext.experiments.records import as_frame
from rffboost_ext.experiments.summary import Summary
from rffboost_ext.recipes import Facts, choose_recipe

FEW = {"learner": "rff_newton", "early_stopping": False, "n_estimators": 3}


def few_variants(monkeypatch):
    monkeypatch.setattr(
        defaults, "VARIANTS", {"defaults": FEW, "fast": FEW | {"n_estimators": 5}} | defaults.VARIANTS
    )


def few_queries(monkeypatch):
    X, y, query = ranking.generated(None)
    kept = query < 60
    monkeypatch.setitem(ranking.SETS, "generated", lambda folder: (X[kept], y[kept], query[kept]))
    fit = partial(RFFBoostRanker, learner="tree", n_estimators=3, early_stopping=False)
    monkeypatch.setitem(ranking.SYSTEMS, "ours", lambda X, y, query: fit().fit(X, y, qid=query))


def few_rows(monkeypatch):
    monkeypatch.setattr(unbalanced, "ROWS", 200)
    monkeypatch.setattr(unbalanced, "TEST_ROWS", 300)
    monkeypatch.setitem(unbalanced.MODELS, "XGBoost", lambda: XGBClassifier(n_estimators=3, n_jobs=1))


def short_stream(monkeypatch):
    monkeypatch.setattr(refresh, "OLD_ROWS", 200)
    monkeypatch.setattr(refresh, "LIGHTGBM_ROUNDS", 3)


def few_words(monkeypatch):
    monkeypatch.setattr(sparse, "WORDS", (200, 70, 5))
    monkeypatch.setattr(sparse, "WARM_UP", (20, 5))
    # Processes of their own would import all packages.
    monkeypatch.setattr(sparse, "POOL", ThreadPool)


def shorter(monkeypatch):
    def fit(X, y, X_test, seed):
        mean = RFFBoostRegressor(learner="tree", n_estimators=3, early_stopping=False).fit(X, y).predict(X_test)
        return distributions.norm(loc=mean, scale=1.0)

    monkeypatch.setitem(distributions.SYSTEMS, "squared error", fit)
    monkeypatch.setitem(distributions.SYSTEMS, "RFFBoostDistribution", fit)


PLANS = {
    "tables": (
        tables.main,
        ["--datasets", "wine", "abalone", "cardio-1000", "--systems", "XGBoost", "LightGBM"],
        12,
        None,
    ),
    "defaults": (
        lambda options: defaults.BENCHMARK.main(options),
        ["--datasets", "wine", "--systems", "defaults", "fast"],
        4,
        few_variants,
    ),
    "distributions": (
        distributions.main,
        ["--datasets", "abalone", "--systems", "RFFBoostDistribution", "squared error", "--rows", "100"],
        4,
        shorter,
    ),
    "published": (
        published.BENCHMARK.main,
        ["--datasets", "erbf-diabetes", "rfrboost-wdbc", "--systems", "linear"],
        4,
        None,
    ),
    "ranking": (ranking.BENCHMARK.main, ["--systems", "ours", "xgboost"], 4, few_queries),
    "unbalanced": (unbalanced.BENCHMARK.main, ["--systems", "none, XGBoost", "weights, XGBoost"], 4, few_rows),
    "sparse": (
        sparse.BENCHMARK.main,
        ["--datasets", "words", "--systems", "LogisticRegression", "LightGBM"],
        4,
        few_words,
    ),
    "refresh": (
        refresh.BENCHMARK.main,
        ["--datasets", "values, 200 rows", "--systems", "refresh", "LightGBM, refit"],
        4,
        short_stream,
    ),
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A folder with tables that have text and missing values."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.standard_normal(120), "b": rng.standard_normal(120)})
    X.loc[3, "b"] = np.nan
    X["kind"] = rng.choice(["x", "y", "z"], 120)
    X.assign(target=X["a"] + (X["kind"] == "x")).to_csv(tmp_path / "abalone.csv", index=False)
    X.assign(target=np.where(X["a"] > 0.0, "yes", "no")).to_csv(tmp_path / "cardio.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("name", PLANS)
def test_a_plan_from_end_to_end_and_again(name, folder, monkeypatch, capsys):
    main, options, count, change = PLANS[name]
    if change is not None:
        change(monkeypatch)
    shared = ["--out", str(folder / "out.csv"), "--data-dir", str(folder), "--splits", "2"]
    assert main([*shared, *options]) == 0
    report = capsys.readouterr().out
    lines = (folder / "out.csv").read_text().splitlines()
    assert len(lines) == 1 + count
    records = Records(folder / "out.csv", lines[0].split(",")[5:]).read().values()
    values = [value for record in records for value in record.values.values() if isinstance(value, float)]
    assert np.isfinite(values).all()
    systems = [part for part in tables.DEFAULTS if part in options]
    assert all(system in report for system in systems)
    assert "one thread per fit" in report
    monkeypatch.setattr(study, "attempt", lambda *parts: pytest.fail("measured again"))
    assert main([*shared, *options]) == 0
    assert capsys.readouterr().out == report


def test_systems_are_measured_anew_beside_the_records_of_others(tmp_path, monkeypatch):
    arguments = ["--out", str(tmp_path / "out.csv"), "--datasets", "wine", "--systems"]
    assert tables.main([*arguments, "XGBoost", "HistGB"]) == 0
    old, others = (tmp_path / "out.csv").read_text().splitlines()[1:]
    monkeypatch.setattr(tables, "quality", lambda model, X, rows: (12.5, 0.875, 1.0, None))
    assert tables.main([*arguments, "XGBoost", "--again"]) == 0
    kept, new = pd.read_csv(tmp_path / "out.csv").itertuples()
    assert (kept.system, new.system, new.score) == ("HistGB", "XGBoost", 12.5)
    assert others in (tmp_path / "out.csv").read_text()
    assert old not in (tmp_path / "out.csv").read_text()


def test_the_calibration_error_is_that_of_the_bins():
    rng = np.random.default_rng(0)
    chances = rng.dirichlet(np.ones(3), 500)
    y = rng.integers(0, 3, 500)
    confidence, right = chances.max(axis=1), chances.argmax(axis=1) == y
    inside = [(confidence > low) & (confidence <= low + 1 / 15) for low in np.arange(15) / 15]
    gaps = [rows.mean() * abs(right[rows].mean() - confidence[rows].mean()) for rows in inside if rows.any()]
    assert tables.calibration_error(y, chances) == pytest.approx(sum(gaps))


@pytest.mark.skipif(find_spec("sksurv") is None, reason="needs scikit-survival")
def test_survival_from_end_to_end(tmp_path):
    from benchmarks import survival

    options = ["--datasets", "veteran", "--systems", "CoxPH", "XGBoost cox", "--splits", "1"]
    assert survival.BENCHMARK.main(["--out", str(tmp_path / "out.csv"), *options]) == 0


def test_what_fails_or_is_missing_is_named_and_the_rest_is_done(folder, monkeypatch, capsys):
    def broken(task):
        raise RuntimeError("no luck")

    system = replace(tables.SYSTEMS["CatBoost"], build=broken)
    monkeypatch.setitem(tables.SYSTEMS, "CatBoost", system)
    options = ["--datasets", "wine", "heart", "--systems", "XGBoost", "CatBoost", "--splits", "1"]
    arguments = ["--out", str(folder / "out.csv"), "--data-dir", str(folder)]
    assert tables.main([*arguments, *options]) == 1
    printed = capsys.readouterr()
    assert "failed: wine, CatBoost, split 1: RuntimeError: no luck" in printed.err
    assert "left out: heart: it is in heart.csv" in printed.err
    assert "XGBoost" in printed.out


@pytest.mark.parametrize(
    ("options", "word"),
    [
        (["--systems", "XGBost"], "XGBoost"),
        (["--datasets", "wino"], "wine"),
        (["--splits", "0"], "--splits"),
        (["--data-dir", "no/such/folder"], "--data-dir"),
        (["--tables", "ecm"], "--tables"),
        (["--out", "no/such/folder/a.csv"], "--out"),
    ],
)
def test_invalid_options_are_named(options, word, tmp_path, capsys):
    with pytest.raises(SystemExit) as stop:
        tables.main(["--out", str(tmp_path / "out.csv"), *options])
    assert stop.value.code == 2
    assert word in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_the_folder_of_data_is_the_option_or_that_of_the_environment(monkeypatch, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    monkeypatch.delenv("RFFBOOST_DATA", raising=False)
    assert data_folder(None) is None
    monkeypatch.setenv("RFFBOOST_DATA", str(tmp_path))
    assert (data_folder(None), data_folder(other)) == (tmp_path, other)
    monkeypatch.setenv("RFFBOOST_DATA", str(tmp_path / "absent"))
    with pytest.raises(ValueError, match=r"RFFBOOST_DATA: .*absent' is not a folder"):
        data_folder(None)


def test_a_variant_changes_a_member_of_the_stack_or_leaves_it_out():
    X = np.random.default_rng(0).uniform(1.0, 5.0, (400, 4))
    y = (X[:, 0] * X[:, 1] > X[:, 2] * X[:, 3]).astype(int)
    rows = Rows("binary", X, y, X, y)
    plain, same, other, fewer = (
        defaults.estimator(rows, variant).set_params(n_estimators=12).fit(X, y)
        for variant in (
            {},
            lambda recipe: recipe,
            defaults.changing({defaults.TREES: {"max_depth": 2}}),
            defaults.without(defaults.LOGISTIC),
        )
    )
    np.testing.assert_array_equal(same.decision_function(X), plain.decision_function(X))
    assert (other.decision_function(X) != plain.decision_function(X)).any()
    assert set(plain.member_names_) - set(fewer.member_names_) == {defaults.LOGISTIC}


@pytest.mark.parametrize("name", [name for name, variant in defaults.VARIANTS.items() if callable(variant)])
def test_a_variant_is_another_recipe_for_some_size(name):
    sizes = [(n, d, n_classes) for n in (300, 2_000, 9_000) for d in (5, 300) for n_classes in (None, 2)]
    recipes = [choose_recipe(Facts(*size)) for size in sizes]
    assert any(defaults.VARIANTS[name](recipe) != recipe for recipe in recipes)


def test_the_table_of_variants_is_of_the_rows_beside_it():
    path = Path(defaults.__file__).parent
    frame = as_frame(Records(path / "defaults.csv", tuple(defaults.MEASURES)).read().values())
    page = (path / "defaults.md").read_text()
    scores, times = (Summary(frame, name) for name in ("score", "seconds"))
    gaps, ratios = scores.differences(), times.ratios()
    for name in scores.columns:
        (line,) = [line for line in page.splitlines() if line.startswith(f"| {name} |")]
        cells = [cell.strip() for cell in line.split("|")[2:-1]]
        means = [scores.mean[name].reindex(list(group)).mean() for group in defaults.GROUPS.values()]
        assert cells[:5] == ["" if np.isnan(mean) else f"{mean:.2f}" for mean in means]
        gap = gaps.loc[name]
        assert cells[5] == f"{gap['difference']:+.2f} ± {gap['error']:.2f}"
        assert cells[6:] == [f"{ratios[name]:.2f}", f"{gap['count']:.0f}"]
        # No variant is better at no more time, beyond noise.
        assert ratios[name] > 1.1 or gap["difference"] <= 2.0 * gap["error"]


def test_scripts_are_modules_to_run(monkeypatch, capsys):
    monkeypatch.delitem(sys.modules, "benchmarks.tables")
    monkeypatch.setattr(sys, "argv", ["tables", "--out", "absent/out.csv"])
    with pytest.raises(SystemExit, match="2"):
        runpy.run_module("benchmarks.tables", run_name="__main__")
    assert "there is no folder" in capsys.readouterr().err
