"""``rffboost score`` and ``rffboost predict`` of every kind of model: score, loss and predictions of Python."""

from __future__ import annotations

import numpy as np
import onnx
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from onnx_export import OnnxPredictor
from rffboost_ext import (
    ConformalRegressor,
    RFFBoostClassifier,
    RFFBoostDistribution,
    RFFBoostQuantileRegressor,
    RFFBoostRanker,
    RFFBoostRegressor,
    RFFBoostSurvival,
    sources,
)
from rffboost_ext.cli.score import score_text

from .conftest import TABLE, N, X

FEATURES = TABLE.select(["a", "b"])
PRICE, TIME, WEIGHT = TABLE["price"].to_numpy(), np.exp(X[:, 0]), TABLE["w"].to_numpy()
TIMES = np.zeros(N, dtype=[("event", bool), ("time", float)])
TIMES["event"], TIMES["time"] = np.arange(N) % 3 > 0, TIME
BOUNDS = np.column_stack([TIME, np.where(TIMES["event"], TIME, np.inf)])
LABELS = (X > 0).astype(int)
RELEVANCE, QUERY = np.digitize(PRICE, [-0.5, 0.5]), np.repeat(np.arange(12), 10)
COLUMNS = {"event": TIMES["event"], "time": TIME, "high": BOUNDS[:, 1], "one": LABELS[:, 0], "two": LABELS[:, 1]}
COLUMNS |= {"relevance": RELEVANCE, "query": [f"q{code}" for code in QUERY], "of_query": WEIGHT[QUERY]}
FEW = {"n_estimators": 3, "random_state": 0, "early_stopping": False}
KINDS = {
    "mean": (RFFBoostRegressor(**FEW), PRICE, "R2", "squared_error", "--target price"),
    "means": (
        RFFBoostRegressor(**FEW),
        np.column_stack([PRICE, TIME]),
        "R2",
        "squared_error",
        "--target price,time",
    ),
    "quantile": (RFFBoostRegressor("quantile", **FEW), PRICE, None, "quantile", "--target price"),
    "quantiles": (RFFBoostQuantileRegressor(**FEW), PRICE, "D2", "quantiles", "--target price"),
    "classes": (RFFBoostClassifier(**FEW), TABLE["label"], "accuracy", "log_loss", "--target label"),
    "labels": (RFFBoostClassifier(**FEW), LABELS, "accuracy", "log_loss", "--target one,two"),
    "distribution": (RFFBoostDistribution(**FEW), PRICE, None, "normal", "--target price"),
    "cox": (RFFBoostSurvival(**FEW), TIMES, "concordance", "cox", "--event event --time time"),
    "bounds": (RFFBoostSurvival("aft_normal", **FEW), BOUNDS, "concordance", "aft_normal", "--target time,high"),
    "ranking": (RFFBoostRanker(**FEW), RELEVANCE, "NDCG", "pairwise", "--target relevance --group query"),
}


@pytest.fixture
def rows(folder):
    """A folder with files of targets of all kinds."""
    table = TABLE
    for name, values in COLUMNS.items():
        table = table.append_column(name, pa.array(values))
    pa.csv.write_csv(table, "kinds.csv")
    pq.write_table(table.slice(0, 50), "kinds0.parquet")
    pq.write_table(table.slice(50), "kinds1.parquet")
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_score_and_loss_of_each_kind_of_model_are_those_of_python(kind, rows, run):
    model, y, score, loss, options = KINDS[kind]
    weight, ranked, watched = WEIGHT, {}, {}
    if kind == "ranking":
        weight, ranked, watched = WEIGHT[QUERY], {"qid": QUERY}, {"eval_qid": [QUERY]}
    model.fit(FEATURES, y, eval_set=[(FEATURES, y, weight)], **ranked, **watched).save_model("m.rffboost")
    expected = f"{loss} {model.evals_result_['validation_0'][loss][-1]:.4g} of {N} rows\n"
    if score is not None:
        expected = f"{score} {model.score(FEATURES, y, weight, **ranked):.4g}, {expected}"
    name = "of_query" if ranked else "w"
    for files in ("kinds.csv", "kinds[01].parquet"):
        assert run(f"score m.rffboost {files} --weight {name} {options}") == (0, expected, "")
        assert run(f"predict m.rffboost {files} --out p.parquet")[0] == 0
        predictions = np.column_stack(pq.read_table("p.parquet").columns)
        assert (predictions == model.predict(FEATURES).reshape(N, -1)).all()


@pytest.mark.parametrize("kind", ["ranking", "mean"])
def test_scores_of_a_sample_say_so(kind, rows):
    model, y, score, *_ = KINDS[kind]
    ranked = {"qid": QUERY} if kind == "ranking" else {}
    model.fit(FEATURES, y, **ranked)
    columns = {"target": "relevance", "group": "query"} if ranked else {"target": "price"}
    told = score_text(model, sources.csv("kinds.csv", columns=["a", "b"], max_rows=30, **columns))
    assert told.startswith(f"{score} ")
    assert told.endswith("of 30 of 120 rows" if ranked else " of 120 rows")


def test_survival_functions_and_operators_of_a_graph_are_chosen(rows, run):
    KINDS["cox"][0].fit(FEATURES, TIMES).save_model("m.rffboost")
    line = "export m.rffboost m.onnx --verify kinds.csv --times 0.5,1 --opset 15 --no-tree-operators"
    assert run(line)[0] == 0
    graph = onnx.load("m.onnx")
    assert {entry.domain: entry.version for entry in graph.opset_import} == {"": 15}
    assert OnnxPredictor("m.onnx").predict_survival_function(FEATURES).shape == (N, 2)


def test_loss_of_intervals_is_that_of_their_regressor(rows, run):
    model = ConformalRegressor(RFFBoostRegressor(**FEW), random_state=0).fit(FEATURES, PRICE)
    model.save_model("m.rffboost")
    half = 0.5 * np.mean((PRICE - model.predict(FEATURES)) ** 2)
    expected = f"R2 {model.score(FEATURES, PRICE):.4g}, squared_error {half:.4g} of {N} rows\n"
    assert run("score m.rffboost kinds.csv --target price") == (0, expected, "")


REFUSED = {
    ("ranking", "--target relevance"): ["--group", "queries"],
    ("mean", "--target price --group query"): ["--group", "RFFBoostRegressor"],
    ("mean", "--target price,time"): ["--target", "2"],
    ("means", "--target price"): ["--target", "1"],
    ("labels", "--target one"): ["--target", "1"],
    ("classes", "--target query"): ["classes of the fit", "'q0'"],
    ("mean", "--event event --time time"): ["--event", "survival"],
    ("cox", ""): ["--event", "--time"],
    ("cox", "--event event"): ["event", "time"],
    ("cox", "--event label --time time"): ["event was observed"],
    ("distribution", ""): ["--target"],
}


@pytest.mark.parametrize(("kind", "options"), REFUSED)
def test_what_cannot_be_scored_is_one_line(kind, options, rows, run):
    model, y, *_ = KINDS[kind]
    model.fit(FEATURES, y, **({"qid": QUERY} if kind == "ranking" else {})).save_model("m.rffboost")
    code, out, err = run(f"score m.rffboost kinds.csv {options}")
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    for word in REFUSED[kind, options]:
        assert word in err


@pytest.mark.parametrize(
    "line",
    ["score m rows.csv --target price", "predict m rows.csv --out p.csv", "export m m.onnx --verify rows.csv"],
)
def test_a_model_that_needs_an_offset_is_refused_before_rows_are_read(line, folder, run):
    RFFBoostRegressor(**FEW).fit(FEATURES, PRICE, base_margin=np.arange(1.0, N + 1.0)).save_model("m")
    code, out, err = run(line)
    assert (code, out, len(err.splitlines())) == (2, "", 1)
    assert "base_margin" in err
    assert not [*folder.glob("p.*"), *folder.glob("m.*")]
