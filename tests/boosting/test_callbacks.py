"""What callbacks show and change: printed lines, learning rates."""

from __future__ import annotations

import functools
import re
import warnings

import numpy as np
import pandas as pd
import pytest

from rffboost_ext import STEPS, Decay, RFFBoostRegressor, Shrunk, load_model
from rffboost_ext.boosting.loop import default_step
from rffboost_ext.recipes import MemberRule, Recipe

from ..cases import each_learner, make_data, make_estimator
from .test_evaluation import REAL, halves

X, Y, X_OTHER, Y_OTHER = halves(REAL)
PLAIN = {"learner": "rff_newton", "n_estimators": 7, "early_stopping": False, "random_state": 0}


def halving(index):
    return 0.8 * 0.5**index


def test_callbacks_are_closed_however_the_fit_ends():
    class Closing:
        closed = 0

        def __call__(self, progress):
            if progress.round.index == 2 and not self.closed:
                raise RuntimeError
            return progress.round.index == 2

        def close(self):
            self.closed += 1

    callback = Closing()
    model = RFFBoostRegressor(callbacks=[callback], **PLAIN)
    with pytest.raises(RuntimeError):
        model.fit(X, Y)
    assert callback.closed == 1
    assert model.fit(X, Y).n_estimators_ == 3
    assert callback.closed == 2


@pytest.mark.parametrize(
    ("verbose", "rounds", "lines"), [(1, 20, 10), (True, 200, 10), (5, 20, 4), (1, 3, 3), (50, 3, 1)]
)
def test_as_many_lines_as_asked_for(verbose, rounds, lines, capsys):
    params = PLAIN | {"learner": "tree", "n_estimators": rounds}
    model = RFFBoostRegressor(verbose=verbose, **params).fit(X, Y, eval_set={"own": (X_OTHER, Y_OTHER)})
    out, err = capsys.readouterr()
    found = [line for line in err.splitlines() if line.startswith("[rffboost] round")]
    assert (len(found), out) == (lines, "")
    assert re.match(rf"\[rffboost\] round {rounds} of {rounds}, \d+\.\d s: training loss ", found[-1])
    assert all(re.search(r", at most \d+\.\d s left: ", line) for line in found[1:-1])
    assert re.fullmatch(r"\[rffboost\] \d+\.\d s in total", err.splitlines()[-1])
    RFFBoostRegressor(**params).fit(X, Y)
    assert capsys.readouterr() == ("", "")
    assert float(found[-1].split()[-1]) == pytest.approx(model.evals_result_["own"]["squared_error"][-1], rel=1e-5)


def test_the_time_left_is_of_all_models(capsys, monkeypatch):
    clock = iter(range(100))
    monkeypatch.setattr("rffboost_ext.boosting.callbacks.monotonic", lambda: float(next(clock)))
    params = PLAIN | {"learner": "tree", "n_estimators": 5, "early_stopping": True, "n_folds": 2, "tol": 0.0}
    RFFBoostRegressor(verbose=2, **params).fit(X, Y)
    found = [line.partition("] fold ")[2].partition(":")[0] for line in capsys.readouterr().err.splitlines()]
    # The clock strikes at the start, after the first round, and with each line.
    assert [line for line in found if line][:3] == [
        "1 of 2, round 2 of 5, 2.0 s, at most 8.0 s left",
        "1 of 2, round 4 of 5, 3.0 s, at most 4.0 s left",
        "1 of 2, round 5 of 5, 4.0 s, at most 3.8 s left",
    ]


def test_a_long_fit_is_not_silent(capsys):
    RFFBoostRegressor(verbose=1, learner="tree", n_estimators=1000, callbacks=[lambda p: p.round.index > 120]).fit(
        X, Y
    )
    assert sum(line.startswith("[rffboost] round") for line in capsys.readouterr().err.splitlines()) == 2


@each_learner
def test_a_schedule_scales_each_step(loss, learner):
    data, target = make_data(loss)
    seen = []
    model = make_estimator(loss, learner, n_estimators=4, learning_rate=halving, callbacks=[seen.append])
    model.fit(data, target)
    step = default_step(model.loss_, learner.make())
    for index, progress in enumerate(seen):
        output = progress.term(progress.round.design.original)
        assert progress.length == pytest.approx(halving(index) * step.move(progress.round, output)[1], rel=1e-3)
    constant = make_estimator(loss, learner, n_estimators=4, learning_rate=lambda index: 0.3).fit(data, target)
    plain = make_estimator(loss, learner, n_estimators=4, learning_rate=0.3).fit(data, target)
    np.testing.assert_array_equal(constant.ensemble_.raw(data), plain.ensemble_.raw(data))


def rates(model):
    return list(model.ensemble_.moves[:, 1])


def test_schedules_go_with_folds_stacks_refits_and_sets():
    params = PLAIN | {"learning_rate": halving, "n_estimators": 5, "early_stopping": True, "tol": 0.0}
    refitted = RFFBoostRegressor(**(params | {"n_folds": 1, "refit": True})).fit(X, Y)
    assert rates(refitted) == pytest.approx([halving(t) for t in range(refitted.n_estimators_)])
    watched = RFFBoostRegressor(**params).fit(X, Y, eval_set=[(X_OTHER, Y_OTHER)])
    assert rates(watched) == pytest.approx([halving(t) for t in range(watched.n_estimators_)])
    recipe = Recipe([MemberRule("trees", "symmetric_tree"), MemberRule("cosines", "rff_newton")], n_folds=2)
    folds = RFFBoostRegressor(**(params | {"learner": "auto", "quality": recipe})).fit(X, Y)
    assert max(rates(folds)) <= 0.8
    assert folds.score(X, Y) > 0.0


@pytest.mark.parametrize(("rate", "factor", "least"), [(0.4, 0.5, 0.05), (0.1, 1.0, 0.01), (0.02, 0.5, 0.1)])
def test_decay_falls_to_the_least(rate, factor, least, tmp_path):
    decay = Decay(rate, factor, least)
    found = [decay(index) for index in range(50)]
    assert found[0] == max(rate, least)
    assert np.all(np.diff(found) <= 0.0)
    assert found[-1] == pytest.approx(max(least, rate * factor**49))
    model = RFFBoostRegressor(learning_rate=decay, **PLAIN).fit(X, Y)
    model.save_model(tmp_path / "model")
    assert repr(load_model(tmp_path / "model").learning_rate) == repr(decay)


@pytest.mark.parametrize(
    "rate", [lambda index, factor=0.5: factor, lambda *given: 0.5, functools.partial(max, 0.5), np.float64(0.5)]
)
def test_a_rate_may_be_whatever_takes_a_round(rate):
    found = RFFBoostRegressor(learning_rate=rate, **(PLAIN | {"n_estimators": 1})).fit(X, Y)
    np.testing.assert_array_equal(rates(found), [0.5])


def test_a_function_that_has_no_name_is_refused_by_files(tmp_path):
    model = RFFBoostRegressor(learning_rate=halving, **PLAIN).fit(X, Y)
    with pytest.raises(TypeError, match="learning_rate"):
        model.save_model(tmp_path / "model")
    assert not list(tmp_path.iterdir())
    assert Shrunk(STEPS.create("unit"), halving).move(type("R", (), {"index": 1})(), np.ones(1)) == (1.0, 0.4)


def test_a_function_counts_the_rounds_of_this_model_alone():
    seen: list[int] = []

    def rate(index):
        seen.append(index)
        return 0.5

    first = RFFBoostRegressor(**PLAIN).fit(X, Y)
    model = RFFBoostRegressor(learning_rate=rate, warm_start=True, **PLAIN).fit(X, Y, init_model=first)
    assert sorted({*seen}) == [*range(PLAIN["n_estimators"])]
    # A warm start goes on counting.
    model.set_params(n_estimators=PLAIN["n_estimators"] + 2).fit(X, Y)
    assert sorted({*seen}) == [*range(PLAIN["n_estimators"] + 2)]


@pytest.mark.parametrize("answer", [np.array([0, 1]), pd.DataFrame({"a": [1]})], ids=["array", "table"])
def test_an_answer_that_is_neither_true_nor_false_is_named(answer):
    def odd(progress):
        return answer

    with pytest.raises(TypeError, match=r"callbacks: <function .*odd.* must return a truth value"):
        RFFBoostRegressor(learner="rff_1", n_estimators=2, callbacks=[odd]).fit(*REAL)


def test_a_member_that_ends_at_the_limit_of_rounds_is_named():
    given = {"learner": "symmetric_tree", "early_stopping": True, "random_state": 0}
    with pytest.warns(UserWarning, match=r"still improved at the limit of 3 rounds: a larger n_estimators"):
        RFFBoostRegressor(n_estimators=3, **given).fit(X, Y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        RFFBoostRegressor(n_estimators=300, n_iter_no_change=5, **given).fit(
            X, np.ones(len(X)) + 1e-3 * np.sin(1e6 * X[:, 0])
        )
