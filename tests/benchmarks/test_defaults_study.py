"""The study of the defaults: what it measures, that it goes on where it stopped, and its table."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split

from benchmarks import defaults, defaults_run
from benchmarks.defaults_run import DefaultsRecord, DefaultsTask, Key
from rffboost_ext import Mixture, RFFBoostClassifier
from rffboost_ext.experiments.compare.protocol import SYSTEM_SEED
from rffboost_ext.experiments.records import Records

BENCHMARKS = Path(defaults.__file__).parent


def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Variants of a few rounds."""
    plain = {"learner": "rff_newton", "early_stopping": False}
    made = {"defaults": plain | {"n_estimators": 3}, "longer": plain | {"n_estimators": 5}}
    monkeypatch.setattr(defaults_run, "variants", lambda: made)


def run(out: Path, *more: str) -> int:
    return defaults.main(["--out", str(out), "--datasets", "wine", "--splits", "2", *more])


def rows_of(out: Path) -> list[dict[str, str]]:
    with (out / "defaults.csv").open() as file:
        return list(csv.DictReader(file))


def test_each_variant_meets_the_same_splits_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    few(monkeypatch)
    assert run(tmp_path) == 0
    rows = rows_of(tmp_path)
    assert [(row["variant"], row["split"]) for row in rows] == [
        (variant, split) for split in ("1001", "1002") for variant in ("defaults", "longer")
    ]
    assert [row["rounds"] for row in rows] == ["3.0", "5.0"] * 2
    monkeypatch.setattr(DefaultsTask, "measure", lambda task: pytest.fail("measured again"))
    assert run(tmp_path) == 0
    assert rows_of(tmp_path) == rows


def test_an_unfinished_line_is_measured_again(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    few(monkeypatch)
    run(tmp_path)
    path = tmp_path / "defaults.csv"
    whole = path.read_text()
    path.write_text(whole[:-4])
    assert run(tmp_path) == 0
    again = path.read_text().splitlines()
    assert [line.split(",")[:4] for line in again] == [line.split(",")[:4] for line in whole.splitlines()]
    assert {line.count(",") for line in again} == {5}


def test_scores_are_those_of_the_estimator(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    few(monkeypatch)
    X, y = load_wine(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(
        X, y == 0, test_size=0.3, random_state=1001, stratify=y == 0
    )
    model = RFFBoostClassifier(
        learner="rff_newton", early_stopping=False, n_estimators=3, random_state=SYSTEM_SEED
    )
    wanted = 100.0 * model.fit(X_train, y_train).score(X_test, y_test)
    run(tmp_path)
    assert float(rows_of(tmp_path)[0]["score"]) == pytest.approx(wanted, rel=1e-12)


def test_a_variant_of_the_mixture_changes_that_of_the_stack() -> None:
    X, y = load_wine(return_X_y=True)

    def scores(parameters: dict[str, object]) -> np.ndarray:
        model = defaults_run.estimator("multiclass", 1, parameters | {"n_estimators": 12})
        return model.fit(X, y).decision_function(X)

    same, other = ({defaults_run.MIXTURE: {"subsample": share}} for share in (Mixture().subsample, 1.0))
    np.testing.assert_array_equal(scores(same), scores({}))
    assert (scores(other) != scores({})).any()


def test_the_table_has_paired_differences() -> None:
    rng = np.random.default_rng(0)
    keys = [("wine", 1001), ("wine", 1002), ("friedman1", 1001)]
    base, other = rng.uniform(80, 90, (2, 3))
    rows = [DefaultsRecord("defaults", *key, s, 1.0, 9.0) for key, s in zip(keys, base, strict=True)]
    rows += [DefaultsRecord("slow", *key, s, 2.0, 9.0) for key, s in zip(keys, other, strict=True)]
    gaps = other - base
    table = defaults.report({row.key: row for row in rows})
    line = next(line for line in table.splitlines() if "slow" in line)
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    assert cells == [
        "slow",
        f"{other[:2].mean():.2f}",
        "",
        f"{other[2]:.2f}",
        "",
        "",
        f"{gaps.mean():+.2f} ± {gaps.std(ddof=1) / np.sqrt(3):.2f}",
        "2.00",
        "3",
    ]


@pytest.mark.parametrize("option", ["--variants", "--datasets"])
def test_unknown_names_are_refused(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        defaults.main(["--out", str(tmp_path), option, "nothing"])
    assert "unknown 'nothing'" in capsys.readouterr().err


def kept() -> dict[Key, DefaultsRecord]:
    """The rows beside the script."""
    return Records(BENCHMARKS / "defaults.csv", DefaultsRecord).read()


def test_the_table_beside_the_script_is_of_the_rows_beside_it() -> None:
    rows = kept()
    assert len(rows) > 100
    assert defaults.report(rows) in (BENCHMARKS / "defaults.md").read_text()


def test_no_variant_that_was_measured_is_better_at_no_more_time_beyond_noise() -> None:
    rows = kept()
    for variant in {key[0] for key in rows} - {defaults_run.REFERENCE}:
        shared = [key[1:] for key in rows if key[0] == variant and (defaults_run.REFERENCE, *key[1:]) in rows]
        pairs = [(rows[variant, *key], rows[defaults_run.REFERENCE, *key]) for key in shared]
        gaps = np.array([ours.score - base.score for ours, base in pairs])
        time = np.exp(np.mean([np.log(ours.seconds / base.seconds) for ours, base in pairs]))
        assert time > 1.1 or gaps.mean() < 2.0 * gaps.std(ddof=1) / np.sqrt(len(gaps)), variant


@pytest.mark.parametrize(("changed", "kinds"), [({}, 3), ({defaults_run.NEWTON: None}, 2)])
def test_a_kind_of_models_can_be_left_out(changed, kinds) -> None:
    X = np.random.default_rng(0).uniform(1.0, 5.0, (400, 4))
    fitted = defaults_run.estimator("binary", 1, changed).fit(X, X[:, 0] * X[:, 1] > X[:, 2] * X[:, 3])
    names = {type(one).__name__ for one in fitted.learners_}
    assert len(names) == kinds
    assert ("RFFIRLS" in names) == (kinds == 3)
