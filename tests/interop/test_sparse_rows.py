"""A sparse matrix and the same one as an array give one model: an absent entry is 0, NaN is missing."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import xgboost

from rffboost_ext import RFFBoostRegressor
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.utils import sparse

from .interop_cases import LIGHTGBM, XGBOOST, hosts

RNG = np.random.default_rng(0)
N, D = 300, 6
X = np.where(RNG.random((N, D)) < 0.4, RNG.normal(size=(N, D)), 0.0)
# Numbers, and codes of categories in the last column.
X[:, -1] = RNG.integers(0, 4, N)
X[RNG.random((N, D)) < 0.05] = np.nan
WHOLE = np.nan_to_num(X)
Y = WHOLE[:, 0] + np.abs(WHOLE[:, 1]) + (WHOLE[:, -1] % 3 == 1) + 0.1 * RNG.normal(size=N)
CLASSES = np.digitize(Y, [0.0, 0.5])
TIMES = np.exp(Y)[:, None] * [1.0, 1.5]
WEIGHT = RNG.uniform(0.5, 2.0, N)


def untidy(rows):
    """The same matrix, where some zeros are stored, and half of each other entry twice, in any order."""
    entries, zeros = sp.coo_array(rows), np.argwhere(rows == 0.0)[::3].T
    values = np.concatenate([entries.data / 2.0, entries.data / 2.0, np.zeros(zeros.shape[1])])
    row, column = np.hstack([entries.coords, entries.coords, zeros])
    order = np.random.default_rng(1).permutation(len(row))
    order = order[np.argsort(row[order], kind="stable")]
    ends = np.append(0, np.bincount(row, minlength=len(rows)).cumsum())
    return sp.csr_matrix((values[order], column[order], ends), rows.shape)


def widened(rows, width):
    """The same rows with further columns of zeros before them."""
    return np.hstack([np.zeros((len(rows), width - D)), rows])


FORMS = {
    "untidy": untidy,
    "csc": sp.csc_matrix,
    "coo": sp.coo_matrix,
    "csr_array": sp.csr_array,
    "frame": lambda rows: pd.DataFrame.sparse.from_spmatrix(sp.csr_matrix(rows)),
}


def arrays_of(rows):
    return [getattr(rows, name) for name in ("data", "indices", "indptr", "row", "col") if hasattr(rows, name)]


def curves_of_equal_models(host, form, loss="squared_error", y=Y, **params):
    """The curves of models of the rows as an array and of the rows in a form; their scores must be equal."""
    given, part = form(X), form(X[::2])
    before = [array.copy() for array in arrays_of(given)]
    fits, curves = [], []
    for whole, held in ((X, X[::2]), (given, part)):
        watched = host.watch(held, y[::2])
        watched["eval_set"].append((whole, y))
        model = host.estimator(loss, **params).fit(whole, y, sample_weight=WEIGHT, **watched)
        fits.append(model)
        curves.append(host.curve(model))
    wanted = host.scores(fits[0], X)
    np.testing.assert_array_equal(host.scores(fits[1], given), wanted)
    if sp.issparse(given):
        np.testing.assert_array_equal(host.scores(fits[0], given), wanted)
        np.testing.assert_array_equal(host.scores(fits[1], X), wanted)
    for array, old in zip(arrays_of(given), before, strict=True):
        np.testing.assert_array_equal(array, old)
    return curves


@pytest.mark.filterwarnings("ignore:Sparse arrays from pandas")
@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@hosts
def test_all_forms_of_sparse_rows_are_read(host, form):
    wanted, found = curves_of_equal_models(host, form)
    assert found == wanted


PARAMS = [
    (XGBOOST, {"tree_method": "exact"}),
    (XGBOOST, {"booster": "gblinear"}),
    (XGBOOST, {"missing": 0.0}),
    (XGBOOST, {"colsample_bynode": 0.5, "feature_weights": np.arange(D)}),
    (XGBOOST, {"feature_types": ["q"] * (D - 1) + ["c"], "enable_categorical": True, "max_cat_to_onehot": 1}),
    (XGBOOST, {"loss": "normal"}),
    (XGBOOST, {"loss": "log_loss", "y": CLASSES}),
    (XGBOOST, {"loss": "aft_normal", "y": TIMES}),
    (LIGHTGBM, {"linear_tree": True}),
    (LIGHTGBM, {"zero_as_missing": True}),
    (LIGHTGBM, {"loss": "normal"}),
    (LIGHTGBM, {"loss": "log_loss", "y": CLASSES, "class_weight": "balanced"}),
    (LIGHTGBM, {"loss": "aft_normal", "y": TIMES}),
]


@pytest.mark.parametrize(("host", "params"), PARAMS)
def test_parameters_and_losses_read_sparse_rows(host, params):
    wanted, found = curves_of_equal_models(host, untidy, **params)
    assert found == wanted


@hosts
def test_all_methods_read_sparse_rows(host):
    rows, margin = untidy(X), WEIGHT[:, None] * np.arange(3)
    model = host.classifier().fit(rows, CLASSES)
    calls = {"predict_proba": {}, "predict": {}, "score": {"y": CLASSES}}
    if host is XGBOOST:
        calls |= {"apply": {}, "predict_proba of margins": {"base_margin": margin}}
    else:
        calls |= {"decision_function": {}, "predict of leaves": {"pred_leaf": True}}
        calls |= {"predict of shares": {"pred_contrib": True}}
    for name, options in calls.items():
        method = getattr(model, name.partition(" ")[0])
        np.testing.assert_array_equal(method(rows, **options), method(X, **options), err_msg=name)


@pytest.mark.parametrize("width", [D, sparse.MOST_COLUMNS + 1], ids=["arrays", "sparse"])
@hosts
def test_models_are_continued_and_converted(host, width):
    params = {"learner": "tree", "n_estimators": 3, "early_stopping": False, "random_state": 0}
    whole, found = widened(X, width), []
    rows = untidy(whole)
    for form in (whole, rows):
        first = host.estimator().fit(form, Y)
        again = host.estimator().fit(form, Y, **{host.continued: first})
        ours = RFFBoostRegressor(**params).fit(form, Y, init_model=again)
        ensemble = host.ours.to_ensemble(again)
        found.append([host.scores(again, form), ensemble.raw(form), ours.predict(form)[:, None]])
    for dense, absent in zip(*found, strict=True):
        np.testing.assert_array_equal(absent, dense)
    np.testing.assert_array_equal([*ensemble.staged(rows)], [*ensemble.staged(whole)])


@pytest.mark.parametrize(
    ("host", "params"),
    [(XGBOOST, {}), (XGBOOST, {"missing": 0.0}), (XGBOOST, {"booster": "gblinear"}), (LIGHTGBM, {})],
)
def test_no_array_is_larger_than_a_block(host, params, monkeypatch):
    sizes, width = [0], 7_100
    assert 8 * N * width > sparse.BLOCK_BYTES

    def counted(self, *args, **kwargs):
        sizes.append(8 * np.prod(self.shape))
        return super(type(self), self).toarray(*args, **kwargs)

    for cls in (sp.csr_matrix, sp.csr_array):
        monkeypatch.setattr(cls, "toarray", counted, raising=False)
    whole = widened(X, width)
    rows = sp.csr_matrix(whole)
    model = host.estimator(n_estimators=2, **params).fit(rows, Y, **host.watch(rows[::2], Y[::2]))
    found = host.scores(model, rows)
    assert max(sizes) <= (0 if host is LIGHTGBM or params else sparse.BLOCK_BYTES + 8 * width)
    dense = host.estimator(n_estimators=2, **params).fit(whole, Y)
    np.testing.assert_array_equal(found, host.scores(dense, whole))


@hosts
def test_attached_features_of_cosines_may_be_sparse(host):
    found = []
    for rows in (WHOLE, untidy(WHOLE)):
        hybrid, matrix = host.ours.CosineObjective("squared_error"), host.matrix(WHOLE, Y)
        hybrid.attach(matrix, rows)
        booster, _ = host.train(matrix, hybrid, 3)
        found.append(hybrid.bind(booster).predict(rows))
    np.testing.assert_array_equal(*found)


def test_a_matrix_of_the_user_keeps_the_reading_of_xgboost():
    matrices = xgboost.DMatrix(sp.csr_matrix(WHOLE), Y), xgboost.DMatrix(np.where(WHOLE, WHOLE, np.nan), Y)
    models = [XGBOOST.bound(matrix, "squared_error", 5)[0] for matrix in matrices]
    np.testing.assert_array_equal(*(model.predict(X) for model in models))
    with pytest.raises(ValueError, match=f"{np.sum(WHOLE == 0.0)} missing"):
        XGBOOST.train(matrices[0], rxgb.CosineObjective("squared_error"), 1)


@hosts
def test_rows_and_targets_of_other_numbers_are_refused(host):
    with pytest.raises(ValueError, match=r"29\d"):
        host.estimator().fit(sp.csr_matrix(X[:290]), Y)
