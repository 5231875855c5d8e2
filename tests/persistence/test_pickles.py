"""Pickles, joblib files and copies of a fitted model: the same function, and shared arrays once."""

import copy
import io
import pickle

import cloudpickle
import joblib
import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from rffboost_ext import RFFBoostRegressor

X, y = load_diabetes(return_X_y=True)


@pytest.fixture(scope="module")
def model():
    return RFFBoostRegressor(learner="rff_ridge", n_estimators=20, early_stopping=False, random_state=0).fit(X, y)


@pytest.fixture
def through_joblib(tmp_path):
    def load(model, **options):
        joblib.dump(model, tmp_path / "model.joblib")
        return joblib.load(tmp_path / "model.joblib", **options)

    return load


def frequencies(model):
    return {id(term.omega) for term in model.ensemble_.terms}


COPIES = {
    "pickle": lambda model: pickle.loads(pickle.dumps(model)),
    "protocol 2": lambda model: pickle.loads(pickle.dumps(model, protocol=2)),
    "Python's pickler": lambda model: pickle.loads(pickle._dumps(model)),
    "cloudpickle": lambda model: pickle.loads(cloudpickle.dumps(model)),
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}


@pytest.mark.parametrize("name", COPIES)
def test_copies_predict_the_same_bits_and_share_arrays(model, name):
    again = COPIES[name](model)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert len(frequencies(again)) == len(frequencies(model)) < len(model.ensemble_)


@pytest.mark.parametrize("options", [{}, {"mmap_mode": "r"}])
def test_joblib_writes_shared_arrays_once(model, through_joblib, options):
    again = through_joblib(model, **options)
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert len(frequencies(again)) == len(frequencies(model))
    file = io.BytesIO()
    joblib.dump(again, file)
    assert len(pickle.dumps(again)) < 1.001 * len(pickle.dumps(model))
    assert file.tell() < 1.1 * len(pickle.dumps(model))


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy])
def test_copies_of_a_term_hold_arrays(model, copied):
    term = model.ensemble_.terms[0]
    again = copied(term)
    assert type(again.omega) is np.ndarray
    np.testing.assert_array_equal(again(X), term(X))
