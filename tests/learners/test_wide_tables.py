"""Tables with many more columns than rows: kernel machines in the span of their rows."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from onnx_export import OnnxPredictor, to_onnx
from rffboost_ext import Cosines, RFFBoostClassifier, RFFBoostRegressor, RFFRidge, load_model
from rffboost_ext.learners.kernel_machines.frequency_selection import row_space
from rffboost_ext.terms.cosine_arrays import Projection

from ..cases import LOSS_CASES, make_round

N, D = 60, 1_500


@pytest.fixture(scope="module", params=["rff_ridge", "rff_irls"])
def model(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, D)).astype(np.float32)
    y = np.arange(N) % 2
    X[:, :20] += y[:, None]
    fitted = RFFBoostClassifier(learner=request.param, random_state=0, n_estimators=5, early_stopping=False)
    return fitted.set_params(learner__n_components=200).fit(X, y), X, y


def plain(term: Cosines) -> Cosines:
    """The same function with a frequency for each column."""
    return replace(term, omega=term.frequencies, projection=None)


def test_a_row_space_has_the_inner_products_of_its_rows() -> None:
    round, scale = make_round(LOSS_CASES[0], n=30, d=400), np.linspace(0.5, 1.5, 400)
    rows = np.arange(0, 30, 2)
    projection = row_space(round, rows, scale, 300)
    coordinates, scaled = projection(round.design.X[rows]), scale * round.design.X[rows]
    np.testing.assert_allclose(coordinates @ coordinates.T, scaled @ scaled.T, rtol=1e-4, atol=1e-3)
    assert len(projection.matrix) <= len(rows)


@pytest.mark.parametrize(("n", "d", "n_frequencies"), [(100, 100, 2_000), (100, 3_000, 100)])
def test_all_columns_are_used_where_that_takes_less_memory(n, d, n_frequencies) -> None:
    assert row_space(make_round(LOSS_CASES[0], n=n, d=d), np.arange(n), np.ones(d), n_frequencies) is None


def test_projected_cosines_are_cosines_of_all_columns(model) -> None:
    fitted, X, _ = model
    (term,) = fitted.ensemble_.compact().terms
    full = plain(term)
    assert term.projection is not None
    np.testing.assert_allclose(term(X.astype(float)), full(X.astype(float)), atol=1e-5)
    one, other = (
        fitted.ensemble_.gradient(X[:3]),
        replace(fitted.ensemble_.compact(), terms=(full,)).gradient(X[:3]),
    )
    np.testing.assert_allclose(one, other, atol=1e-7)
    effects = [part.total_effects(X, np.full(N, 1 / N)) for part in (term, full)]
    np.testing.assert_allclose(*effects, rtol=1e-3)


def test_rows_beyond_a_sample_have_the_outputs_of_the_term() -> None:
    round = make_round(LOSS_CASES[0], n=60, d=900)
    term, output = RFFRidge(200, max_samples=40).fit(round)
    assert term.projection is not None
    np.testing.assert_allclose(output, term(round.design.X), rtol=0, atol=1e-5 * np.abs(output).max())


def test_fitted_models_are_small_and_survive_every_file(model, tmp_path) -> None:
    fitted, X, y = model
    scores = fitted.decision_function(X)
    assert len(pickle.dumps(fitted)) < 6 * X.nbytes
    fitted.save_model(tmp_path / "model")
    for copy in (pickle.loads(pickle.dumps(fitted)), load_model(tmp_path / "model")):
        np.testing.assert_array_equal(copy.decision_function(X), scores)
    np.testing.assert_allclose(OnnxPredictor(to_onnx(fitted)).decision_function(X), scores, atol=1e-4)
    assert (fitted.predict(X) == y).mean() > 0.9


def test_a_continued_fit_is_the_whole_fit(tmp_path) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 900))
    y = X[:, :10].sum(axis=1)
    given = {"learner": "rff_ridge", "early_stopping": False, "random_state": 0}
    whole = RFFBoostRegressor(**given, n_estimators=6).fit(X, y)
    part = RFFBoostRegressor(**given, n_estimators=3, warm_start=True).fit(X, y)
    part.save_model(tmp_path / "part")
    part = load_model(tmp_path / "part").set_params(n_estimators=6).fit(X, y)
    np.testing.assert_array_equal(part.predict(X), whole.predict(X))


@pytest.mark.parametrize("n_columns", [300, 600])
def test_series_give_the_total_effects_of_moved_columns(n_columns, monkeypatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, n_columns))
    omega = np.sqrt(6.0 / n_columns) * rng.normal(size=(30, n_columns))
    term = Cosines(omega, rng.uniform(0, 6, 30), rng.normal(size=(30, 2)))
    found = term.total_effects(X, np.full(40, 1 / 40))
    monkeypatch.setattr("rffboost_ext.terms.total_effects.MANY_FEATURES", n_columns)
    np.testing.assert_allclose(found, term.total_effects(X, np.full(40, 1 / 40)), rtol=5e-3)


def test_equal_projections_are_of_one_family() -> None:
    matrix = np.random.default_rng(0).normal(size=(3, 8))
    terms = [
        Cosines(np.ones((2, 3)), np.zeros(2), np.ones((2, 1)), projection=Projection(m))
        for m in (matrix, matrix.copy(), 2.0 * matrix)
    ]
    assert terms[0].family == terms[1].family != terms[2].family


@pytest.mark.parametrize("n_samples", [6, 20])
def test_reweighted_least_squares_on_few_rows_ends(n_samples) -> None:
    X = np.random.default_rng(2).normal(size=(n_samples, 20))
    for seed in range(2):
        model = RFFBoostClassifier(learner="rff_irls", random_state=seed).fit(X, np.arange(n_samples) % 3)
        assert len(model.ensemble_) <= 4 * 40
