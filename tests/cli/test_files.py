"""``rffboost fit`` and ``rffboost predict``: what Python gives, and one line for every mistake."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, load_model

from .conftest import TABLE, N

FEATURES = TABLE.select(["a", "b"])
BRIEF = "--columns a,b --param n_estimators=4 --param random_state=0 --param early_stopping=False"


@pytest.mark.parametrize("files", ["0.parquet 1.parquet", "[01].parquet", "rows.csv"])
def test_a_regressor_of_files_predicts_as_that_of_the_table(files, folder, run):
    model = RFFBoostRegressor(n_estimators=4, random_state=0, early_stopping=False)
    expected = model.fit(FEATURES, TABLE["price"], TABLE["w"]).predict(FEATURES)
    code, out, _ = run(f"fit {files} --target price --weight w --out m.rffboost {BRIEF}")
    assert (code, out.splitlines()[0]) == (0, f"2 numbers, target price: numbers, {N} rows")
    np.testing.assert_array_equal(load_model("m.rffboost").predict(FEATURES), expected)
    code, out, _ = run(f"predict m.rffboost {files} --out p.parquet")
    assert (code, out) == (0, f"{N} rows: p.parquet\n")
    np.testing.assert_array_equal(pq.read_table("p.parquet")["prediction"], expected)


def test_labels_and_probabilities_of_a_classifier(folder, run):
    model = RFFBoostClassifier(n_estimators=4, random_state=0, early_stopping=False).fit(FEATURES, TABLE["label"])
    assert run(f"fit [01].parquet --target label --out m.rffboost {BRIEF}")[0] == 0
    assert run("predict m.rffboost [01].parquet --out p.csv")[0] == 0
    assert pa.csv.read_csv("p.csv")["prediction"].to_pylist() == model.predict(FEATURES).tolist()
    assert run("predict m.rffboost [01].parquet --out p.parquet --method predict_proba")[0] == 0
    written = pq.read_table("p.parquet")
    assert written.column_names == ["probability_down", "probability_same", "probability_up"]
    np.testing.assert_array_equal(np.column_stack(written.columns), model.predict_proba(FEATURES))


def test_integers_need_a_task(folder, run):
    for task, kind in (("regression", RFFBoostRegressor), ("classification", RFFBoostClassifier)):
        line = f"fit rows.csv --target count --task {task} --out {task}.rffboost {BRIEF}"
        assert run(line)[0] == 0
        assert type(load_model(f"{task}.rffboost")) is kind


def test_a_failure_midway_leaves_nothing_behind(folder, run):
    line = f"fit 0.parquet --target price --out m.rffboost --param missing=error {BRIEF}"
    assert run(line)[0] == 0
    (folder / "p.csv").write_text("old")
    for out in ("p.parquet", "p.csv"):
        code, _, err = run(f"predict m.rffboost [01].parquet --out {out}")
        assert code == 2
        assert "'b'" in err
    assert (folder / "p.csv").read_text() == "old"
    assert not list(folder.glob("*.tmp"))
    assert not (folder / "p.parquet").exists()


CODES = ["007", "012", "123", "A45"]


def test_the_types_of_the_model_decide_at_prediction(folder, run):
    """Whatever the other rows of a file look like."""
    rows = [(CODES[row % 4], ["true", "false", "unknown"][row % 3], row) for row in range(N)]
    write = lambda name, rows: (folder / name).write_text(  # noqa: E731
        "code,truth,y\n" + "".join(f"{code},{truth},{y}.5\n" for code, truth, y in rows)
    )
    write("train.csv", rows)
    named = "--param categorical_features=['code','truth'] --param random_state=0 --param n_estimators=5"
    assert run(f"fit train.csv --target y --out m.rffboost {named}")[0] == 0
    some = [row for row in rows if row[0] != "A45" and row[1] != "unknown"]
    write("some.csv", some)
    assert run("predict m.rffboost some.csv --out some.parquet")[0] == 0
    assert run("predict m.rffboost train.csv --out all.parquet")[0] == 0
    written, every = (pq.read_table(f"{name}.parquet")["prediction"].to_numpy() for name in ("some", "all"))
    np.testing.assert_array_equal(written, every[[row in some for row in rows]])


@pytest.mark.parametrize(
    ("name", "delimiter", "option"),
    [
        ("rows.tsv", "\t", ""),
        ("rows.CSV", ",", ""),
        ("rows.parquet.csv", ";", "--delimiter ;"),
        ("a.txt.csv", "\t", "--delimiter \\t"),
    ],
)
def test_delimiters_and_suffixes_of_csv_files(name, delimiter, option, folder, run):
    pa.csv.write_csv(TABLE, name, pa.csv.WriteOptions(delimiter=delimiter))
    assert run(f"fit {name} --target price --out m.rffboost {option} {BRIEF}")[0] == 0
    code, out, _ = run(f"predict m.rffboost {name} --out P.CSV {option}")
    assert (code, out) == (0, f"{N} rows: P.CSV\n")


def test_the_last_suffix_decides(folder, run):
    pq.write_table(TABLE, "rows.csv.parquet")
    assert run(f"fit rows.csv.parquet --target price --out m.rffboost {BRIEF}")[0] == 0


def test_encodings_and_missing_values_of_csv_files(folder, run):
    text = "größe,price\n" + "".join(f"{row if row % 3 else '-'},{row}.5\n" for row in range(N))
    (folder / "old.csv").write_bytes(text.encode("latin-1"))
    line = "fit old.csv --target price --out m.rffboost --param n_estimators=2 --param early_stopping=False"
    assert run(f"{line} --encoding latin-1 --null-values -,?")[0] == 0
    model = load_model("m.rffboost")
    assert model.feature_names_in_.tolist() == ["größe"]
    assert model.encoder_.missing_columns.tolist() == [True]


def test_errors_of_a_prediction_name_all_columns_or_the_row(folder, run):
    assert run(f"fit rows.csv --target price --out m.rffboost {BRIEF}")[0] == 0
    for name, table, words in (
        ("few.csv", TABLE.select(["price", "w"]), ["few.csv", "'a', 'b'"]),
        ("bad.csv", TABLE.set_column(0, "a", [["1"] * 77 + ["thirty"] * (N - 77)]), ["bad.csv: row 77", "'a'"]),
        ("bad.parquet", TABLE.set_column(0, "a", [["1"] * 77 + ["thirty"] * (N - 77)]), ["row 77 of bad", "'a'"]),
    ):
        (pa.csv.write_csv if name.endswith("csv") else pq.write_table)(table, name)
        code, _, err = run(f"predict m.rffboost {name} --out p.csv")
        assert code == 2
        for word in words:
            assert word in err
