"""``rffboost score``, ``info`` and ``export``, and what ``fit`` says: as in Python, and one line for mistakes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
from sklearn.metrics import log_loss

import onnx_export
from rffboost_ext import (
    RFFBoostClassifier,
    RFFBoostDistribution,
    RFFBoostRegressor,
    RFFBoostSurvival,
    load_model,
)
from rffboost_ext.persistence.model_file import save_model

from ..docs.scripts import run_script
from .conftest import TABLE, N, X

FEATURES = TABLE.select(["a", "b"])
FAST = "--param quality=fast --param random_state=0 --param n_estimators=5"
WORDS = TABLE.select(["a", "label"]).append_column("code", pa.array([f"c{row % 3}" for row in range(N)]))


class Kept:
    """A callback that keeps the held-out rows."""

    def __call__(self, progress):
        return False

    def held_out(self, pairs):
        self.pairs = pairs


def test_a_fit_says_what_it_has_understood_and_the_score_on_held_out_rows(folder, run):
    def fitted(make, target):
        model = make(quality="fast", random_state=0, n_estimators=5, callbacks=[Kept()])
        return model.fit(FEATURES, TABLE[target])

    regressor, classifier = fitted(RFFBoostRegressor, "price"), fitted(RFFBoostClassifier, "label")
    pairs, folds = (model.callbacks[0].pairs for model in (regressor, classifier))
    r2 = np.mean([1.0 - ((out.y - raw) ** 2).sum() / ((out.y - out.y.mean()) ** 2).sum() for out, raw in pairs])
    right = np.mean([(raw.argmax(axis=1) == out.y[:, 0]).mean() for out, raw in folds])
    score = f"R2 {r2:.4g}, squared_error {regressor.best_score_:.4g}"
    accuracy = f"accuracy {right:.4g}, log_loss {classifier.best_score_:.4g}"
    for target, says, held in (
        ("price", "numbers", score),
        ("label", "3 classes (down, same, up)", accuracy),
    ):
        code, out, _ = run(f"fit [01].parquet --target {target} --columns a,b --out m.rffboost {FAST}")
        first, second, third = out.splitlines()
        assert (code, first) == (0, f"2 numbers, target {target}: {says}, {N} rows")
        assert second == f"held-out rows: {held}"
        assert third.endswith(f" s, {(folder / 'm.rffboost').stat().st_size / 1000:,.1f} kB: m.rffboost")
    assert "no held-out rows" in run(f"{FIT} --columns a {FAST} --param early_stopping=False")[1]


def test_a_fit_to_a_sample_says_of_how_many_rows(folder, run, monkeypatch):
    monkeypatch.setattr("rffboost_ext.sources.core.MAX_BYTES", 50 * 8)
    code, out, _ = run(f"fit rows.csv --target price --columns a --out m.rffboost {FAST}")
    assert (code, out.splitlines()[0]) == (0, f"1 number, target price: numbers, 50 of {N} rows")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_chosen_features_and_categories_are_those_of_python(kind, folder, run):
    name = "rows.csv" if kind == "csv" else "[01].parquet"
    line = f"fit {name} --target price --exclude w --id label --categories count --out m.rffboost {FAST}"
    code, out, _ = run(line)
    assert code == 0
    assert out.startswith("2 numbers, 1 category (count), target price")
    columns = TABLE.select(["a", "b", "count"])
    if kind == "csv":
        columns = columns.set_column(2, "count", columns["count"].cast(pa.string()))
    model = RFFBoostRegressor(quality="fast", random_state=0, n_estimators=5, categorical_features=["count"]).fit(
        columns, TABLE["price"]
    )
    np.testing.assert_array_equal(load_model("m.rffboost").predict(columns), model.predict(columns))
    assert run(f"predict m.rffboost {name} --out p.parquet")[0] == 0
    np.testing.assert_array_equal(pq.read_table("p.parquet")["prediction"], model.predict(columns))
    assert run(f"export m.rffboost m.onnx --verify {name}")[0] == 0


@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_identities_are_copied_as_they_are(suffix, folder, run):
    table = TABLE.append_column("id", pa.array([f"00{row}" for row in range(N)]))
    (pa.csv.write_csv if suffix == "csv" else pq.write_table)(table, f"ids.{suffix}")
    assert run(f"fit ids.{suffix} --target price --columns a,b --id id --out m.rffboost {FAST}")[0] == 0
    assert run(f"predict m.rffboost ids.{suffix} --id id,a --out p.parquet")[0] == 0
    written = pq.read_table("p.parquet")
    assert written.column_names == ["id", "a", "prediction"]
    assert written.select(["id", "a"]).equals(table.select(["id", "a"]))


def test_the_target_of_a_score_is_that_of_the_fit(folder, run):
    assert run(f"fit [01].parquet --target label --columns a,b --out m.rffboost {FAST}")[0] == 0
    model = load_model("m.rffboost")
    accuracy, loss = (
        model.score(FEATURES, TABLE["label"]),
        log_loss(TABLE["label"], model.predict_proba(FEATURES)),
    )
    expected = f"accuracy {accuracy:.4g}, log_loss {loss:.4g} of {N} rows\n"
    assert run("score m.rffboost rows.csv") == (0, expected, "")


def test_labels_of_text_are_read_as_text(folder, run):
    pa.csv.write_csv(WORDS.append_column("y", pa.array(["A5" if row % 3 else "07" for row in range(N)])), "y.csv")
    pa.csv.write_csv(WORDS.append_column("y", pa.array(["07"] * N)), "one.csv")
    assert run(f"fit y.csv --target y --out m.rffboost --categories code {FAST}")[0] == 0
    right = np.mean(load_model("m.rffboost").predict(WORDS.select(["a", "label", "code"])) == "07")
    assert run("score m.rffboost one.csv")[1].startswith(f"accuracy {right:.4g}, log_loss ")


def test_info_has_what_the_model_knows(folder, run):
    copied = pa.concat_tables([WORDS] * 2)
    model = RFFBoostClassifier(random_state=0, n_estimators=5, n_folds=2)
    with pytest.warns(UserWarning, match="copies"):
        model.fit(copied.drop(["label"]), copied["label"])
    save_model(model, "m.rffboost", metadata={"commit": "4f2a"}, model_version=7)
    code, out, _ = run("info m.rffboost")
    lines = [line.split(maxsplit=1) for line in out.splitlines()]
    assert code == 0
    for name, text in (
        ("version", "7"),
        ("commit", "4f2a"),
        ("classes", "3: down, same, up"),
        ("loss", "log_loss"),
        ("rows", f"{2 * N}"),
        ("copies", f"{N} rows equal an earlier one"),
        ("rounds", f"{model.n_estimators_}"),
        ("features", "1 number, 1 category (code)"),
        ("a", "numbers"),
        ("code", "3 categories: c0, c1, c2"),
    ):
        assert [name, text] in lines
    for name, weight in zip(model.member_names_, model.learner_weights_, strict=True):
        assert any(name in line and f"weight {weight:.3g}" in line for line in out.splitlines())


def test_an_export_is_compared_and_only_then_written(folder, run, monkeypatch):
    assert run(f"fit rows.csv --target label --columns a,b --out m.rffboost {FAST}")[0] == 0
    code, out, _ = run("export m.rffboost m.onnx --verify rows.csv --dtype float64")
    assert code == 0
    assert out.startswith(f"equal on {N} rows, float64")
    description = onnx_export.describe_onnx("m.onnx")
    assert description.metadata.user_metadata == {"target": "label"}
    assert run("info m.onnx") == (0, f"{description}\n", "")
    assert run("export m.rffboost without.onnx")[0] == 0
    monkeypatch.setattr(onnx_export, "verify_onnx", lambda *_, **__: SimpleNamespace(passed=False))
    assert run("export m.rffboost other.onnx --verify rows.csv")[0] == 1
    assert not (folder / "other.onnx").exists()


@pytest.mark.parametrize("target", ["label", "few"])
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_numbers_but_for_a_few_cells_are_refused_unless_named(suffix, target, folder, run):
    cells = pa.array(["thirty" if row == 77 else f"{row}.5" for row in range(N)])
    (pa.csv.write_csv if suffix == "csv" else pq.write_table)(TABLE.append_column("few", cells), f"few.{suffix}")
    line = f"fit few.{suffix} --target {target} --out m.rffboost {FAST}"
    code, out, err = run(line)
    assert (code, out) == (2, "")
    for word in ("'few'", "'thirty'", f"row 77 of few.{suffix}", "--exclude" if target == "label" else "--task"):
        assert word in err.splitlines()[-1]
    if target == "label":
        assert run(f"{line} --exclude few")[0] == 0
        assert "1 category (few)" in run(f"{line} --categories few")[1]
        if suffix == "csv":
            assert run(f"{line} --null-values thirty")[0] == 0


def test_a_missing_target_is_named_by_its_row(folder, run):
    code, _, err = run(f"fit rows.csv --target b --columns a --out m.rffboost {FAST}")
    assert code == 2
    assert f"row {N - 1} of rows.csv" in err


@pytest.mark.parametrize("kind", [RFFBoostDistribution, RFFBoostSurvival])
def test_a_method_without_numbers_for_each_row_is_named(kind, folder, run):
    kind(n_estimators=1, early_stopping=False).fit(FEATURES, np.exp(X[:, 0])).save_model("m.rffboost")
    for method in [name for name in dir(kind) if name.startswith("predict_") and "median" not in name]:
        code, _, err = run(f"predict m.rffboost rows.csv --out p.csv --method {method}")
        assert code == 2
        assert f"{method} does not" in err
        assert not (folder / "p.csv").exists()


FIT = "fit rows.csv --target price --out new.rffboost"
OF_PARQUET = "fit 0.parquet --out new.rffboost"
MISTAKES = {
    f"{OF_PARQUET} --target z": ["error: --target must", "'z'", "price"],
    f"{OF_PARQUET} --target count": ["--task", "'count'", "classification"],
    f"{OF_PARQUET} --target price --task ranking": ["'ranking'", "regression"],
    f"{OF_PARQUET} --target price --param depth=3": ["'depth'"],
    f"{OF_PARQUET} --target price --param depth": ["--param", "'depth'"],
    f"{OF_PARQUET} --target price --param n_estimators=0": ["n_estimators", "0"],
    f"{OF_PARQUET} --target price --columns a,q": ["error: --columns must", "'q'"],
    "fit 0.parquet rows.csv --target price --out new.rffboost": ["one kind", ".csv", ".parquet"],
    "fit 0.parquet --target price --out new.rffboost --delimiter ;": ["--delimiter", ".parquet"],
    "fit absent.parquet --target price --out new.rffboost": ["absent.parquet"],
    "fit *.parquet --target price --out 0.parquet": ["--out", "0.parquet", "input"],
    "predict m.rffboost 0.parquet --out p.txt": [".txt", ".parquet"],
    "predict m.rffboost 0.parquet --out p.csv --method score": ["'score'", "predict"],
    "predict absent.rffboost 0.parquet --out p.csv": ["absent.rffboost"],
    "predict 0.parquet 1.parquet --out p.csv": ["0.parquet"],
    f"{FIT} --delimiter ab": ["error: --delimiter must", "'ab'"],
    f"{FIT} --exclude q": ["--exclude", "'q'"],
    f"{FIT} --columns a --exclude a": ["--exclude", "at least one"],
    f"{FIT} --categories lable": ["--categories", "near: 'label'"],
    f"{FIT} --param callbacks=3": ["'callbacks'"],
    "fit rows.csv --target price,label --out new.rffboost": ["--task", "price, label"],
    "fit rows.csv --target label --task regression --out new.rffboost": ["'label'", "row 0 of rows.csv"],
    "predict m.rffboost rows.csv --out p.csv --id q": ["'q'"],
    "predict m.rffboost made.csv --out p.csv --id prediction": ["--id", "'prediction'"],
    "score m.rffboost rows.csv": ["--target"],
    "score m.rffboost rows.csv --target q": ["'q'", "price"],
    "score m.rffboost rows.csv --target label": ["y must be real numbers", "row 0 of rows.csv"],
    "score rows.csv rows.csv --target a": ["rows.csv"],
    "info rows.csv": ["rows.csv"],
    "info head.onnx": ["head.onnx"],
    "export m.rffboost m.onnx --opset 3": ["opset", "3"],
    "export m.rffboost m.onnx --times 1": ["times", "RFFBoostRegressor"],
    "info absent.rffboost": ["absent.rffboost"],
    "info sum.rffboost": ["Ensemble"],
    "export m.rffboost absent/m.onnx": ["absent"],
    "export m.rffboost m.rffboost": ["input file"],
    "export m.rffboost m.onnx --verify absent.csv": ["absent.csv"],
    "export m.rffboost m.onnx --verify few.csv": ["few.csv", "'b'"],
    "export m.rffboost m.onnx --verify head.csv": ["--verify", "rows"],
    "export m.rffboost m.onnx --dtype float16": ["float16", "float32"],
}


@pytest.mark.parametrize("line", MISTAKES)
def test_a_mistake_is_one_line_and_nothing_is_written(line, folder, run):
    model = RFFBoostRegressor(n_estimators=1, early_stopping=False).fit(FEATURES, TABLE["price"])
    model.save_model("m.rffboost")
    save_model(model.ensemble_, "sum.rffboost")
    (folder / "few.csv").write_text("a,c\n1.5,2\n")
    for name in ("head.csv", "head.onnx"):
        (folder / name).write_text("a,b\n")
    (folder / "made.csv").write_text("a,b,prediction\n1.5,2.5,1\n")
    before = sorted(folder.iterdir())
    code, out, err = run(line)
    assert (code, out) == (2, "")
    assert err.splitlines()[-1].startswith("rffboost: error: ")
    for word in MISTAKES[line]:
        assert word in err.splitlines()[-1]
    assert sorted(folder.iterdir()) == before


def test_commands_of_files_need_no_matplotlib(folder):
    lines = [f"fit rows.csv --target price --out m.rffboost --columns a {FAST}"]
    lines += ["predict m.rffboost rows.csv --out p.csv", "score m.rffboost rows.csv", "info m.rffboost"]
    lines += ["export m.rffboost m.onnx --verify rows.csv"]
    script = "import sys; sys.modules['matplotlib'] = None; from rffboost_ext import cli\n"
    script += f"codes = [cli.main(line.split()) for line in {lines}]\nsys.stderr = sys.stdout\n"
    printed = run_script(f"{script}print(codes, cli.main(['compare', 'rows.csv']))", folder).splitlines()
    assert printed[-1] == "[0, 0, 0, 0, 0] 2"
    assert "rffboost: error: rffboost compare needs matplotlib: pip install matplotlib" in printed[-2]
