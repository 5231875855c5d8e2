"""A sparse matrix and its dense copy give the same model, whatever their size, learner, loss and format."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from rffboost_ext import (
    LEARNERS,
    RFFBoostClassifier,
    RFFBoostRegressor,
    RFFBoostSurvival,
    SymmetricTree,
    Tree,
    load_model,
)
from rffboost_ext.rows.feature_expansion import SKETCH_COLUMNS
from rffboost_ext.utils import sparse
from rffboost_ext.utils.sparse import SparseRows, compressed

from ..cases import LEARNER_CASES, LOSS_NAMED, OBSERVED

BRIEF = {"n_estimators": 4, "early_stopping": False, "random_state": 0}


def sparse_matrix(n=160, missing=False, noise=0.0):
    """Twelve columns that matter, with indices out of order and stored zeros, and perhaps missing values.

    There are more columns than learners of numbers see, and so many that the matrix stays sparse.
    """
    X = sp.random(n, 12, 0.25, format="csr", random_state=0)
    X.data = np.random.default_rng(0).choice([-1.0, 0.0, 0.5, 2.0, np.nan if missing else 3.0], X.nnz)
    X = sp.hstack([X, sp.random(n, SKETCH_COLUMNS, noise, random_state=1)]).tocsr()
    for start, stop in zip(X.indptr[:-1], X.indptr[1:], strict=True):
        for part in (X.indices, X.data):
            part[start:stop] = part[start:stop][::-1].copy()
    X.has_sorted_indices = False
    return X


def signal(X):
    """What targets depend on."""
    dense = np.nan_to_num(X.toarray(), nan=1.0)
    return dense[:, 0] - dense[:, 1] * dense[:, 2] + 0.5 * dense[:, 3]


def same_fits(model, X, y, **options):
    """A fit to a sparse matrix, after a comparison with the one to its dense copy; X must stay as it is."""
    before = X.copy()
    fits = [clone(model).fit(given, y, **options) for given in (X, X.toarray())]
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(X, name), getattr(before, name))
    for given in (X, X.toarray()):
        np.testing.assert_array_equal(*(fit.raw_scores(given) for fit in fits))
    np.testing.assert_allclose(fits[0].raw_scores(X), fits[0].raw_scores(X.toarray()), rtol=0, atol=1e-12)
    return fits[0]


REGISTERED = [case for case in LEARNER_CASES if case.name in LEARNERS.names()]
OF_EACH_KIND = [case for case in REGISTERED if case.name in ("rff_ridge", "ridge", "tree", "symmetric_tree")]


@pytest.mark.parametrize("case", REGISTERED, ids=str)
def test_the_law_holds_for_large_matrices_with_any_learner(case):
    X = sparse_matrix()
    model = same_fits(RFFBoostRegressor(learner=case.make(), **BRIEF), X, signal(X))
    assert isinstance(model.encoder_.transform(X), SparseRows)
    assert model.score(X, signal(X)) > 0.0


@pytest.mark.parametrize("case", OF_EACH_KIND, ids=str)
def test_learners_of_numbers_see_some_of_many_columns(case, tmp_path):
    X = sparse_matrix(missing=True, noise=0.03)
    model = same_fits(RFFBoostRegressor(learner=case.make(), **BRIEF), X, signal(X))
    model.save_model(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(X), model.predict(X))
    model.refresh(X, signal(X))
    assert model.score(X, signal(X)) > 0.0


@pytest.mark.parametrize("case", [case for case in REGISTERED if case.name != "ridge"], ids=str)
def test_large_matrices_are_fitted_as_small_ones_if_all_columns_are_seen(case, monkeypatch):
    X, scores = sparse_matrix()[:, :12], []
    for size in (0, 2**28):
        monkeypatch.setattr(sparse, "MOST_BYTES", size)
        monkeypatch.setattr(sparse, "MOST_ENTRIES", 0.5)
        model = RFFBoostClassifier(learner=case.make(), **BRIEF).fit(X, signal(X) > 0.0)
        scores.append(model.decision_function(X.toarray()))
    np.testing.assert_allclose(*scores, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", ["exponential", "poisson", "log_loss of 3 classes", "squared_error of 2 targets"])
def test_the_law_holds_for_every_kind_of_target(name):
    case = LOSS_NAMED[name]
    X, loss = sparse_matrix(), case.make()
    kind = RFFBoostClassifier if loss.task == "classification" else RFFBoostRegressor
    y = OBSERVED[case.targets](signal(X))
    model = same_fits(kind(loss=loss, learner=SymmetricTree(max_depth=2), **BRIEF), X, y)
    assert isinstance(model.encoder_.transform(X), SparseRows)


@pytest.mark.parametrize("large", [False, True], ids=["small", "large"])
# Rows without entries are equal.
@pytest.mark.filterwarnings("ignore:.* are copies of earlier ones")
def test_all_formats_are_taken(large):
    X = sparse_matrix() if large else sparse_matrix()[:, :12]
    model = RFFBoostClassifier(random_state=0, n_estimators=3, quality="fast")
    y = signal(X) > 0.0
    wanted = clone(model).fit(X, y, eval_set=(X, y)).predict_proba(X)
    for convert in (sp.csr_matrix, sp.csc_array, sp.coo_array, sp.lil_matrix):
        found = clone(model).fit(convert(X), y, eval_set=(convert(X), y)).predict_proba(convert(X))
        np.testing.assert_array_equal(found, wanted)


def test_tables_of_sparse_columns_keep_their_names():
    X = sparse_matrix()
    table = pd.DataFrame.sparse.from_spmatrix(X, columns=[f"word {j}" for j in range(X.shape[1])])
    model = RFFBoostClassifier(learner="symmetric_tree", **BRIEF).fit(table, signal(X) > 0.0)
    assert list(model.feature_names_in_) == list(table.columns)
    np.testing.assert_array_equal(
        model.predict_proba(table), clone(model).fit(X, signal(X) > 0.0).predict_proba(X)
    )
    with pytest.raises(ValueError, match="feature names"):
        model.predict(table.rename(columns={"word 0": "another"}))


def test_the_default_of_large_matrices_is_trees_and_ridge_regression(tmp_path):
    X = sparse_matrix(400)
    y = signal(X) + np.random.default_rng(0).normal(0.0, 0.3, 400)
    model = same_fits(RFFBoostRegressor(n_estimators=40, random_state=0), X, y)
    assert [type(learner).__name__ for learner in model.learners_] == ["SymmetricTree", "RidgePath"]
    assert model.score(X, y) > 0.6
    model.save_model(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(X), model.predict(X))
    *_, last = model.staged_predict(X)
    np.testing.assert_allclose(last, model.predict(X))
    importances = model.feature_importances_
    assert importances[:4].sum() > 0.8
    shares = model.shap_values(X[:5], X[:20])
    np.testing.assert_allclose(
        shares.sum(axis=1), (model.predict(X[:5]) - model.predict(X[:20]).mean()), rtol=0, atol=1e-6
    )


def test_weights_are_numbers_of_rows():
    X, weight = sparse_matrix(), np.random.default_rng(0).integers(0, 3, 160)
    rows = np.repeat(np.arange(160), weight)
    for learner in ("symmetric_tree", "ridge"):
        model = RFFBoostRegressor(learner=learner, **BRIEF)
        found = clone(model).fit(X, signal(X), sample_weight=weight).predict(X)
        np.testing.assert_allclose(found, model.fit(X[rows], signal(X)[rows]).predict(X), rtol=0, atol=1e-9)


@pytest.mark.parametrize("dtype", [bool, np.uint8, np.float32])
def test_duplicates_are_summed_as_in_an_array(dtype):
    entries = np.full(60_000, 200).astype(dtype)
    X = sp.csr_matrix((entries, np.repeat(np.arange(30_000) % 600, 2), np.arange(0, 60_001, 600)))
    X.resize(100, 5_500)
    kinds = compressed(X), compressed(X.toarray())
    assert [type(one) for one in kinds] == [SparseRows, SparseRows]
    np.testing.assert_array_equal(*map(np.asarray, kinds))
    assert len(X.data) == 60_000


@pytest.mark.parametrize(("value", "dtype"), [(0.1, np.float32), (1.0, np.float64), (2020.0, np.float32)])
def test_ridge_regression_ignores_constant_columns(value, dtype):
    X, weight = sparse_matrix(), np.random.default_rng(0).uniform(0.0, 2.0, 160)
    model = RFFBoostRegressor(learner="ridge", **BRIEF)
    wanted = clone(model).fit(X, signal(X), sample_weight=weight).predict(X)
    X_more = sp.hstack([X, np.full((160, 1), value)]).tocsr().astype(dtype)
    found = model.fit(X_more, signal(X), sample_weight=weight).predict(X_more)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-9)


def test_levels_of_columns_with_few_numbers_split_missing_values():
    # Each column has eight entries, of which one is missing and seven are of one bin.
    X, rng = np.zeros((160, 1_001)), np.random.default_rng(0)
    for column in X.T[:12]:
        column[rng.choice(160, 8, replace=False)] = [np.nan, *[1.0] * 7]
    learner = SymmetricTree(leaf="constant", max_depth=3)
    model = RFFBoostRegressor(learner=learner, **BRIEF).fit(X, np.nan_to_num(X[:, 3], nan=2.0))
    for tree in model.ensemble_.terms:
        assert ((tree.threshold == -np.inf) | tree.missing_right).all()


@pytest.mark.parametrize(
    "constraints",
    [{"monotone_constraints": [0] * 1_099 + [-1]}, {"interaction_constraints": [[0, 1], [1_098, 1_099]]}],
    ids=lambda given: next(iter(given)),
)
def test_constraints_of_trees_are_of_the_columns_of_a_user(constraints):
    X, rng = np.zeros((400, 1_100)), np.random.default_rng(0)
    X[:, 1_097], X[:, 1_099] = rng.normal(size=(2, 400))
    y = X[:, 1_097] * X[:, 1_099] + 2.0 * X[:, 1_099]
    trees = RFFBoostRegressor(learner=Tree(max_depth=4, **constraints), **BRIEF).fit(X, y)
    rows = np.zeros((3, 1_100))
    rows[:, 1_099] = [-1.0, 0.0, 1.0]
    low, high = (trees.predict(rows + value * np.eye(1_100)[1_097]) for value in (-2.0, 2.0))
    if "monotone_constraints" in constraints:
        assert (np.diff(high) <= 0.0).all()
    else:
        np.testing.assert_allclose(np.diff(low), np.diff(high), rtol=0, atol=1e-9)


def test_values_of_any_size_have_the_same_bins():
    X = np.zeros((1_000, 1_001))
    X[::2, 0] = np.arange(1, 501)
    y, learner = X[:, 0] > 250, SymmetricTree(leaf="constant", max_depth=3)
    fits = [RFFBoostRegressor(learner=learner, **BRIEF).fit(part, y).predict(part) for part in (X, 2.0**-600 * X)]
    np.testing.assert_array_equal(*fits)


def test_pipelines_and_searches_take_sparse_rows():
    X = sparse_matrix()
    pipeline = make_pipeline(MaxAbsScaler(), RFFBoostClassifier(learner="symmetric_tree", **BRIEF))
    search = GridSearchCV(pipeline, {"rffboostclassifier__n_estimators": [2, 20]}, cv=3)
    search.fit(X, signal(X) > 0.0)
    assert search.best_params_ == {"rffboostclassifier__n_estimators": 20}


def test_survival_takes_sparse_rows():
    X = sparse_matrix()
    y = np.array([(True, np.exp(time)) for time in signal(X)], dtype=[("event", bool), ("time", float)])
    model = same_fits(RFFBoostSurvival(learner="symmetric_tree", **BRIEF), X, y)
    assert isinstance(model.encoder_.transform(X), SparseRows)


@pytest.mark.parametrize("X", [sp.csr_matrix(np.eye(5) * 1j), sp.coo_array(np.ones(5))])
def test_complex_and_one_dimensional_matrices_are_refused(X):
    with pytest.raises(ValueError, match=r"X must be real numbers of shape \(n, d\), got a sparse"):
        RFFBoostRegressor().fit(X, np.arange(5.0))


def test_categories_and_infinities_are_refused_by_name():
    X = sparse_matrix()
    with pytest.raises(ValueError, match="categorical_features must be None for a large sparse X, got \\[0\\]"):
        RFFBoostClassifier(categorical_features=[0]).fit(X, signal(X) > 0.0)
    y = signal(X) > 0.0
    X.data[5] = np.inf
    with pytest.raises(ValueError, match=f"infinity in column {X.indices[5]}"):
        RFFBoostClassifier().fit(X, y)


def test_ridge_regression_clips_sparse_rows_to_the_range_of_the_fit():
    X = sparse_matrix().toarray()
    # A column without absent entries, whose range does not contain 0.
    X[:, 0] += 5.0
    model = RFFBoostRegressor(learner="ridge", **BRIEF).fit(sp.csr_matrix(X), X[:, 0] + X[:, 1])
    far = X.copy()
    far[:40] *= 100.0
    far[40:80, 0] = 0.0
    clipped = np.clip(far, X.min(axis=0), X.max(axis=0))
    for given in (far, sp.csr_matrix(far)):
        np.testing.assert_allclose(model.predict(given), model.predict(clipped), rtol=0, atol=1e-9)
    free = RFFBoostRegressor(learner="ridge", extrapolation="continue", **BRIEF).fit(X, X[:, 0] + X[:, 1])
    assert abs(free.predict(far)[:40]).max() > 50.0


def test_merged_copies_of_sparse_rows_count_by_their_weight():
    levels = np.random.default_rng(0).integers(0, 10, 400)
    X = sp.csr_matrix(np.eye(1_001)[levels])
    brief = BRIEF | {"n_estimators": 40}
    model = RFFBoostClassifier(learner=SymmetricTree(max_depth=3), **brief).fit(X, levels < 4)
    assert model.score(X, levels < 4) > 0.8


def test_a_refresh_keeps_the_clipping_of_sparse_rows_and_the_bits_of_dense_ones():
    X = sp.random_array((60, 1500), density=0.02, rng=np.random.default_rng(1), format="csr")
    y, far = X[:, :300].sum(axis=1), np.array([[1e3], [1e6]]) * np.ones((2, 1500))
    new = np.vstack([1.5 * X[::-1].toarray(), far, -far])
    models = [RFFBoostRegressor(learner="ridge", **BRIEF).fit(X, y) for _ in range(2)]
    # Beyond the range of the fit, and few rows, which are dense otherwise.
    for rows in (1.5 * X[::-1], X[:3]):
        sparsely, densely = (
            model.refresh(given, y[: rows.shape[0]]).predict(new)
            for model, given in zip(models, (rows, rows.toarray()), strict=True)
        )
        np.testing.assert_array_equal(sparsely, densely)
        np.testing.assert_array_equal(sparsely[[-4, -2]], sparsely[[-3, -1]])


@pytest.mark.parametrize("estimator", [RFFBoostRegressor, RFFBoostClassifier])
def test_trees_of_a_single_leaf_predict_sparse_rows(estimator):
    X = sp.random_array((5, 1100), density=0.02, rng=np.random.default_rng(0), format="csr")
    y = np.arange(5) % 2
    model = estimator(learner=Tree(min_child_weight=1e9), **BRIEF).fit(X, y)
    np.testing.assert_array_equal(model.predict(X), model.predict(X.toarray()))
    assert model.refresh(X, y).predict(X).shape == (5,)
