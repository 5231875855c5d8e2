"""Evaluations are those of the model that is returned, stage by stage, and callbacks see those of each round."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import log_loss, mean_absolute_error, roc_auc_score

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, average, load_model
from rffboost_ext.displays import HistoryDisplay
from rffboost_ext.recipes import MemberRule, Recipe

from .test_evaluation import halves

X, Y, X_OTHER, Y_OTHER = halves(load_breast_cancer(return_X_y=True))
R, T, R_OTHER, T_OTHER = halves(load_diabetes(return_X_y=True))
SETS = {"one": (X_OTHER[:100], Y_OTHER[:100]), "two": (X_OTHER, Y_OTHER)}
PARAMS = {"n_estimators": 10, "n_iter_no_change": 3, "random_state": 0}
MODES = {
    "stack": {},
    "fast": {"quality": "fast"},
    "plain": {"early_stopping": False, "learner": "rff_newton"},
    "best round": {"learner": "tree", "learning_rate": 2.0, "n_estimators": 30, "tol": 0.0},
    "keeps": {"learner": "rff_k", "loss": "exponential", "early_stopping": False},
}


@pytest.mark.parametrize("mode", MODES)
def test_entries_are_the_stages_of_the_returned_model(mode):
    model = RFFBoostClassifier(eval_metric=["log_loss", "roc_auc"], **(PARAMS | MODES[mode]))
    if "loss" in MODES[mode]:
        model.set_params(eval_metric=["neg_log_loss", "roc_auc"])
    model.fit(X, Y, eval_set=SETS)
    for name, (rows, target) in SETS.items():
        stages = [proba[:, 1] for proba in model.staged_predict_proba(rows)]
        first, second = model.evals_result_[name].values()
        assert len(first) == len(second) == model.n_estimators_ == len(stages)
        sign = -1.0 if "loss" in MODES[mode] else 1.0
        np.testing.assert_allclose(first, [sign * log_loss(target, proba) for proba in stages], rtol=1e-6)
        np.testing.assert_allclose(second, [roc_auc_score(target, proba) for proba in stages], rtol=1e-9)
    curve = model.evals_result_["two"]["roc_auc"]
    assert (type(model.best_iteration_), type(model.best_score_)) == (int, float)
    assert model.best_iteration_ == np.argmax(curve)
    assert model.best_score_ == max(curve) == curve[model.best_iteration_]


@pytest.mark.parametrize("continued", ["warm start", "init_model", "another loss"])
def test_entries_of_a_continued_fit_are_all_stages(continued):
    params = PARAMS | {"early_stopping": False, "learner": "rff_newton", "eval_metric": mean_absolute_error}
    watched = {"eval_set": [(R_OTHER, T_OTHER)]}
    model = RFFBoostRegressor(warm_start=continued == "warm start", **params).fit(R, T, **watched)
    first = model.evals_result_["validation_0"]["mean_absolute_error"]
    if continued == "warm start":
        model.set_params(n_estimators=14).fit(R, T, **watched)
    else:
        options = {"early_stopping": True} if continued == "another loss" else {}
        model = RFFBoostRegressor(**params | options).fit(R, T, init_model=model, **watched)
    curve = model.evals_result_["validation_0"]["mean_absolute_error"]
    stages = model.staged_predict(R_OTHER)
    np.testing.assert_allclose(curve, [np.abs(T_OTHER - stage).mean() for stage in stages], rtol=1e-6)
    assert curve[:10] == pytest.approx(first)
    assert model.best_iteration_ == np.argmin(curve)
    model.fit(R, T)
    assert not hasattr(model, "evals_result_")


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"n_folds": 1, "refit": True},
        {"learner": "tree", "n_estimators": 60, "n_folds": 3, "refit": True},
        {"n_folds": 3},
        {"eval_metric": "r2"},
    ],
    ids=str,
)
def test_without_a_set_the_best_is_that_of_the_returned_models(params):
    model = RFFBoostRegressor(**(PARAMS | {"quality": "fast", "tol": 0.0, "refit": False} | params)).fit(R, T)
    assert (type(model.best_iteration_), type(model.best_score_)) == (int, float)
    assert model.best_iteration_ == model.n_estimators_ - 1
    (folds,) = model.validation_curves_
    # Averaged models have a quarter more rounds than are best for each, but those whose rounds a refit has.
    extra = 1.25 if len(folds) > 1 and not model.refit else 1.0
    kept = [min(round(extra * fold.argmin()), len(fold) - 1) for fold in folds]
    scores = [fold[rounds] for fold, rounds in zip(folds, kept, strict=True)]
    assert model.best_score_ == pytest.approx(np.mean(scores))
    if not model.refit:
        assert model.n_estimators_ == sum(kept)
    shortest = min(map(len, folds))
    np.testing.assert_allclose(model.validation_scores_, np.mean([fold[:shortest] for fold in folds], axis=0))


def test_a_set_that_is_not_monitored_is_evaluated_nevertheless():
    model = RFFBoostRegressor(n_folds=2, quality="fast", **PARAMS)
    with pytest.warns(UserWarning, match="rows of the training set"):
        model.fit(R, T, eval_set={"train": (R, T)})
    stages = [0.5 * np.square(T - stage).mean() for stage in model.staged_predict(R)]
    ratio = np.array(model.evals_result_["train"]["squared_error"]) / stages
    np.testing.assert_allclose(ratio, ratio[0])
    assert model.best_iteration_ == model.n_estimators_ - 1


def test_what_is_best_goes_with_the_model(tmp_path):
    model = RFFBoostRegressor(**PARAMS | {"learner": "tree"}).fit(R, T, eval_set=(R_OTHER, T_OTHER))
    model.save_model(tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert (again.best_iteration_, again.best_score_) == (model.best_iteration_, model.best_score_)
    assert not hasattr(average([model, model]), "best_score_")
    plain = model.set_params(early_stopping=False, n_iter_no_change="auto").fit(R, T)
    assert not hasattr(plain, "best_iteration_")
    assert not hasattr(plain, "best_score_")


def seen_by_callbacks(model, **fit):
    """The label, the number of rounds and the evaluations of each call."""
    seen = []

    def callback(progress):
        curves = progress.evals_result
        lengths = {len(curve) for metrics in curves.values() for curve in metrics.values()}
        last = {name: {key: curve[-1] for key, curve in metrics.items()} for name, metrics in curves.items()}
        seen.append((progress.model, progress.round.index + 1, lengths, last))

    model.set_params(callbacks=[callback]).fit(R, T, **fit)
    return seen


def test_callbacks_see_the_evaluations_of_the_round():
    model = RFFBoostRegressor(eval_metric=["r2", "absolute_error"], **PARAMS | {"quality": "fast"})
    seen = seen_by_callbacks(model, eval_set={"own": (R_OTHER, T_OTHER)})
    assert all(lengths == {done} for _, done, lengths, _ in seen)
    for metric in ("r2", "absolute_error"):
        curve = model.evals_result_["own"][metric]
        assert [last["own"][metric] for *_, last in seen][: len(curve)] == pytest.approx(curve)


def test_callbacks_see_the_validation_score_without_a_set():
    model = RFFBoostRegressor(eval_metric=["absolute_error", "r2"], **PARAMS | {"quality": "fast", "n_folds": 2})
    seen = seen_by_callbacks(model)
    folds = [[-last["validation"]["r2"] for label, *_, last in seen if label.fold == fold] for fold in (0, 1)]
    least = min(map(len, folds))
    mean = np.mean([fold[:least] for fold in folds], axis=0)
    np.testing.assert_allclose(mean, model.validation_scores_[1 : least + 1])
    assert all(list(last["validation"]) == ["r2"] for *_, last in seen)


def test_rounds_are_counted_for_each_member_and_fold(capsys):
    members = [MemberRule("trees", "symmetric_tree"), MemberRule("kernels", "rff_ridge", n_models=1)]
    model = RFFBoostRegressor(verbose=1, quality=Recipe(members, n_folds=2), **PARAMS)
    seen = seen_by_callbacks(model)
    runs = {}
    for label, done, _, _ in seen:
        runs.setdefault((label.member, label.learner, label.fold), []).append(done)
    assert [*runs] == [
        *((0, "symmetric_tree", fold) for fold in (0, 1)),
        (1, "rff_ridge", 0),
    ]
    assert all(rounds == [*range(1, len(rounds) + 1)] for rounds in runs.values())
    lines = [line for line in capsys.readouterr().err.splitlines() if " of 10, " in line]
    assert lines[0].startswith("[rffboost] member 1 of 2 (symmetric_tree), fold 1 of 2, round  1 of 10, ")
    assert "validation squared_error" in lines[0]
    assert {line.partition(", round")[0] for line in lines} == {
        *(f"[rffboost] member 1 of 2 (symmetric_tree), fold {fold + 1} of 2" for fold in (0, 1)),
        "[rffboost] member 2 of 2 (rff_ridge)",
    }


def test_reading_evaluations_changes_no_bits():
    models = [RFFBoostRegressor(verbose=verbose, **PARAMS).fit(R, T) for verbose in (0, 1)]
    other = RFFBoostRegressor(**PARAMS)
    seen_by_callbacks(other)
    for model in (models[1], other):
        np.testing.assert_array_equal(model.predict(R_OTHER), models[0].predict(R_OTHER))


def test_an_interrupt_while_a_model_is_evaluated_keeps_the_model():
    calls = []

    def metric(y, prediction):
        calls.append(1)
        if len(calls) == 5:
            raise KeyboardInterrupt
        return mean_absolute_error(y, prediction)

    model = RFFBoostRegressor(eval_metric=metric, learner="tree", early_stopping=False, n_estimators=7)
    with pytest.raises(KeyboardInterrupt, match="7 rounds"):
        model.fit(R, T, eval_set=(R_OTHER, T_OTHER))
    assert model.n_estimators_ == 7
    assert not hasattr(model, "evals_result_")


def test_the_best_round_of_a_stack_is_marked():
    pytest.importorskip("matplotlib").use("Agg")
    model = RFFBoostClassifier(**PARAMS).fit(X, Y, eval_set=SETS)
    display = HistoryDisplay.from_estimator(model)
    assert display.best_round == model.best_iteration_ + 1
    assert display.rounds == "boosting rounds"
