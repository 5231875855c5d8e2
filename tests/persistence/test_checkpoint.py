"""Checkpoints: however often a fit is killed, it ends in the same bits."""

from __future__ import annotations

import random
import shutil
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from rffboost_ext import (
    LEARNER_POLICIES,
    Checkpoint,
    Mixture,
    RFFBoostClassifier,
    RFFBoostRegressor,
    RFFNewton,
    Tree,
)
from rffboost_ext.boosting import loop as boosting
from rffboost_ext.boosting import training
from rffboost_ext.persistence.checkpoint import CheckpointRecorder
from rffboost_ext.recipes import MemberRule, Recipe
from rffboost_ext.utils import files

from .checkpoint_cases import LABELS, ROUNDS, STOPPED, WITHOUT_HISTORY, X, Y, bits, fitted

WEIGHT = np.random.default_rng(1).uniform(0.5, 2.0, len(X))
STACK = Recipe([MemberRule("mixture", "mixture"), MemberRule("cosines", "rff_newton")])
CASES = {
    **{f"{name} alone": {"learner": name} | ROUNDS for name in ("mixture", "tree", *WITHOUT_HISTORY)},
    "trees with columns drawn": {"learner": Tree(colsample_bytree=0.5, subsample=0.7)} | ROUNDS,
    "line search": {"learner": "rff_newton", "loss": "absolute_error", "step": "line_search"} | ROUNDS,
    "held out": {"learner": "mixture", "n_folds": 1, "refit": False} | STOPPED,
    "held out, then a refit": {"learner": "mixture", "n_folds": 1, "refit": True} | STOPPED,
    "folds": {"learner": "mixture", "n_folds": 3} | STOPPED,
    "folds, then a refit": {"learner": "rff_newton", "n_folds": 3, "refit": True} | STOPPED,
    "folds of kernel machines": {"learner": "rff_ridge", "n_folds": 3} | STOPPED,
    "a stack": {"quality": STACK, "n_folds": 2} | STOPPED,
}
CLASSES = {"shell": RFFBoostClassifier, "target": LABELS, "sample_weight": WEIGHT}
GIVEN = {
    "three weighted classes": ({"learner": "mixture"} | ROUNDS, CLASSES),
    "trees of three weighted classes": ({"learner": "tree"} | ROUNDS, CLASSES),
    "an initial model and held-out rows": (
        {"learner": "mixture"} | STOPPED,
        {"init_model": RFFBoostRegressor(learner="rff_1", n_estimators=3), "eval_set": [(X[:30], Y[:30])]},
    ),
}
cases = pytest.mark.parametrize("params", CASES.values(), ids=CASES)


class Killed(BaseException):
    """The end of the process, as far as the fit can tell."""


class Fate:
    """Counts what a fit does, rounds and steps of writing, and ends it at a chosen moment."""

    def __init__(self, monkeypatch) -> None:
        self.left = -1
        monkeypatch.setattr(boosting, "check_derivatives", self.before(boosting.check_derivatives))
        monkeypatch.setattr(files.os, "fsync", self.before(files.os.fsync))
        monkeypatch.setattr(files.os, "replace", self.before(files.os.replace))

    def before(self, step):
        def strikes(*args):
            self.left -= 1
            if self.left == 0:
                raise Killed
            return step(*args)

        return strikes


@pytest.fixture
def fate(monkeypatch) -> Fate:
    return Fate(monkeypatch)


def killed_again_and_again(fate: Fate, rng: random.Random, fit) -> tuple[object, int]:
    """The model of a fit that is run until it is through, and how often it was killed."""
    deaths = 0
    while True:
        fate.left = rng.randint(2, 15) + 3 * deaths
        try:
            return fit(), deaths
        except Killed:
            deaths += 1
        finally:
            fate.left = -1


@pytest.mark.parametrize(
    ("params", "given"), [*((params, {}) for params in CASES.values()), *GIVEN.values()], ids=[*CASES, *GIVEN]
)
def test_a_fit_that_is_killed_ends_in_the_same_bits(params, given, fate, tmp_path):
    if "init_model" in given:
        given = given | {"init_model": given["init_model"].fit(X, Y)}
    whole = fitted(tmp_path / "whole", params, **given)
    again = lambda: fitted(tmp_path / "killed", params, **given)  # noqa: E731
    model, deaths = killed_again_and_again(fate, random.Random(0), again)
    assert deaths > 0
    assert bits(model) == bits(whole)
    assert sorted(file.name for file in tmp_path.iterdir()) == ["killed", "whole"]


EVERY = {
    "refit": (
        {"refit": True, "n_jobs": 2},
        {"shell": RFFBoostClassifier, "target": Y > 0, "sample_weight": WEIGHT},
    ),
    "three classes": ({"n_estimators": 30}, {"shell": RFFBoostClassifier, "target": LABELS}),
    "eval_set": ({"n_estimators": 60}, {"eval_set": [(X[:50] + 0.01, Y[:50])]}),
}


@pytest.mark.parametrize(("params", "given"), EVERY.values(), ids=EVERY)
def test_a_default_fit_goes_on_from_every_checkpoint(params, given, tmp_path, monkeypatch):
    files, write, path = [], CheckpointRecorder._write, tmp_path / "file"

    def recorded(self):
        write(self)
        files.append(path.read_bytes())
        if stops:
            raise Killed

    monkeypatch.setattr(CheckpointRecorder, "_write", recorded)
    stops = False
    whole = fitted(path, params, every=15, **given)
    written, stops = files.copy(), True
    assert len(written) > 5
    # The first file, of no rounds, is written again.
    for before, after in pairwise(written[1:]):
        path.write_bytes(before)
        with pytest.raises(Killed):
            fitted(path, params, every=15, **given)
        assert files[-1] == after
    stops = False
    for content in (written[1], written[len(written) // 2], written[-1]):
        path.write_bytes(content)
        assert bits(fitted(path, params, every=15, **given)) == bits(whole)


@cases
def test_a_checkpoint_changes_nothing_but_how_trees_round(params, tmp_path):
    plain, with_checkpoint = fitted(None, params), fitted(tmp_path / "file", params)
    if params.get("learner") in WITHOUT_HISTORY:
        curves = [vars(model).pop("validation_scores_", np.empty(0)) for model in (plain, with_checkpoint)]
        assert bits(plain) == bits(with_checkpoint)
        # Rounds of shared frequencies are scored together, whose number decides on the last digit.
        np.testing.assert_allclose(*curves, rtol=1e-12)
    elif params["early_stopping"] is False:
        ours, theirs = with_checkpoint.ensemble_.raw(X), plain.ensemble_.raw(X)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=0.05)


def test_a_fit_goes_on_from_its_last_checkpoint(fate, tmp_path, monkeypatch):
    half_done(fate, tmp_path / "file")
    rounds, plain = [], boosting.check_derivatives
    monkeypatch.setattr(boosting, "check_derivatives", lambda *args: rounds.append(1) or plain(*args))
    fitted(tmp_path / "file", {"learner": "rff_newton"} | ROUNDS)
    assert len(rounds) == 12 - 5


@pytest.mark.parametrize("every", [3, 5, 7, 50])
@pytest.mark.parametrize("learner", ["mixture", "rff_newton"])
def test_pools(learner, every, fate, tmp_path, monkeypatch):
    for cls in (Mixture, RFFNewton):
        monkeypatch.setitem(LEARNER_POLICIES, cls, replace(LEARNER_POLICIES[cls], pool_size=40))
    monkeypatch.setattr(training, "ROUNDS_PER_SAMPLE", 5)
    params = {"learner": learner} | ROUNDS
    whole = fitted(tmp_path / "whole", params, every=every)
    again = lambda: fitted(tmp_path / "killed", params, every=every)  # noqa: E731
    model, deaths = killed_again_and_again(fate, random.Random(every), again)
    assert deaths > 0
    assert bits(model) == bits(whole)
    if learner == "rff_newton":
        assert bits(model) == bits(fitted(None, params))


def test_a_seed_that_was_drawn_is_kept(fate, tmp_path):
    params = {"learner": "rff_newton", "random_state": None} | ROUNDS
    fate.left = 9
    with pytest.raises(Killed):
        fitted(tmp_path / "file", params)
    fate.left = -1
    shutil.copy(tmp_path / "file", tmp_path / "copy")
    one, other = (fitted(tmp_path / name, params) for name in ("file", "copy"))
    assert bits(one) == bits(other)
    assert bits(one) != bits(fitted(None, params))


@pytest.mark.parametrize("learner", ["rff_newton", "mixture"])
def test_a_warm_start_after_a_fit_that_was_killed(learner, fate, tmp_path):
    params = {"learner": learner, "warm_start": True} | ROUNDS
    whole = fitted(tmp_path / "whole", params)
    model, deaths = killed_again_and_again(fate, random.Random(2), lambda: fitted(tmp_path / "killed", params))
    assert deaths > 0
    for one in (whole, model):
        one.set_params(n_estimators=20, callbacks=None).fit(X, Y)
    assert bits(model) == bits(whole)


def test_a_warm_start_that_is_killed(fate, tmp_path):
    params = {"learner": "rff_newton", "warm_start": True} | ROUNDS

    def goes_on(path):
        model = fitted(None, params)
        return model.set_params(n_estimators=20, callbacks=[Checkpoint(path, 3)]).fit(X, Y)

    whole = goes_on(tmp_path / "whole")
    fate.left = 12 + 10
    with pytest.raises(Killed):
        goes_on(tmp_path / "killed")
    fate.left = -1
    assert bits(goes_on(tmp_path / "killed")) == bits(whole)
    assert bits(whole) == bits(fitted(None, params | {"n_estimators": 20}))


class Stateful:
    """A callback that remembers losses, and can be told them."""

    def __init__(self) -> None:
        self.losses: list[float] = []

    def __call__(self, progress) -> None:
        self.losses.append(progress.train_loss())

    def state(self):
        return self.losses

    def restore(self, state) -> None:
        self.losses = state


def test_callbacks_go_on_from_what_they_knew(fate, tmp_path):
    def run(path):
        seen = Stateful()
        params = {"learner": "rff_newton", "random_state": 0} | ROUNDS
        RFFBoostRegressor(callbacks=[Checkpoint(path, 5), seen], **params).fit(X, Y)
        return seen.losses

    whole = run(tmp_path / "whole")
    assert len(whole) == 12
    assert killed_again_and_again(fate, random.Random(0), lambda: run(tmp_path / "killed"))[0] == whole


def test_callbacks_stop_a_fit_wherever_it_is(tmp_path):
    for last in (4, 5, 6):
        stop = lambda progress, last=last: progress.round.index + 1 == last  # noqa: E731
        model = RFFBoostRegressor("auto", "rff_newton", callbacks=[Checkpoint(tmp_path / str(last), 5), stop])
        model.set_params(**ROUNDS).fit(X, Y)
        assert model.n_estimators_ == last


def test_progress_tells_of_the_whole_fit(tmp_path):
    seen: list[int] = []
    callbacks = [Checkpoint(tmp_path / "file", 5), lambda progress: seen.append(progress.n_estimators)]
    RFFBoostRegressor("auto", "rff_newton", callbacks=callbacks, **ROUNDS).fit(X, Y)
    assert seen == [12] * 12


def half_done(fate: Fate, path: Path, **changed) -> None:
    fate.left = 14
    with pytest.raises(Killed):
        fitted(path, {"learner": "rff_newton"} | ROUNDS | changed)
    fate.left = -1


def test_another_fit_does_not_take_a_checkpoint_that_is_not_done(fate, tmp_path):
    half_done(fate, tmp_path / "file")
    before = (tmp_path / "file").read_bytes()
    params = {"learner": "rff_newton"} | ROUNDS
    with pytest.raises(
        ValueError, match=r"file' is of another fit that is not done, which differs in learning_rate; del"
    ):
        fitted(tmp_path / "file", params | {"learning_rate": 0.2})
    with pytest.raises(ValueError, match="differs in learner, y;"):
        fitted(tmp_path / "file", params | {"learner": RFFNewton(l2=2.0)}, target=Y + 1.0)
    with pytest.raises(ValueError, match="differs in every;"):
        fitted(tmp_path / "file", params, every=6)
    assert (tmp_path / "file").read_bytes() == before
    assert fitted(tmp_path / "file", params | {"n_jobs": 2, "verbose": 1}).n_estimators_ == 12


def test_a_checkpoint_that_is_done_makes_room(tmp_path):
    params = {"learner": "rff_newton"} | ROUNDS
    first = fitted(tmp_path / "file", params)
    other = fitted(tmp_path / "file", params | {"random_state": 1})
    assert bits(first) != bits(other)
    assert bits(other) == bits(fitted(None, params | {"random_state": 1}))


def test_a_fit_that_is_done_is_not_done_again(fate, tmp_path):
    params = {"learner": "rff_newton", "n_folds": 3} | STOPPED
    first = fitted(tmp_path / "file", params)
    fate.left = 1
    assert bits(fitted(tmp_path / "file", params)) == bits(first)


def test_a_stack_with_gaps_is_loaded_with_the_same_bits(tmp_path):
    rng = np.random.default_rng(2)
    features = rng.normal(size=(700, 8))
    target = features[:, 0] + np.sin(2.0 * features[:, 1]) + 0.1 * rng.normal(size=700)
    features[rng.random(features.shape) < 0.1] = np.nan

    def fit():
        return RFFBoostRegressor(callbacks=[Checkpoint(tmp_path / "file")], random_state=0).fit(features, target)

    first, again = fit(), fit()
    np.testing.assert_array_equal(first.ensemble_.moves, again.ensemble_.moves)
    np.testing.assert_array_equal(first.predict(features), again.predict(features))
