"""What a model file holds: plain values, arrays and every registered part come back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, load_model
from rffboost_ext.losses import LabelRegression, SquaredError
from rffboost_ext.persistence import container
from rffboost_ext.persistence.values import REGISTRIES

from .model_file_cases import packed_and_back

plain = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
keys = st.text() | st.integers() | st.tuples(st.text(), st.integers())
nested = st.recursive(
    plain,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(keys, inner, max_size=3)
    ),
    max_leaves=12,
)


@settings(max_examples=50)
@given(nested)
def test_plain_values_come_back(value):
    loaded = packed_and_back(value)
    assert repr(loaded) == repr(value)


DTYPES = ["<f4", ">f8", "<i2", "|u1", "|b1", "<c16", "<U3", "|S2", "<M8[D]", "<m8[ns]", "<f2"]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3), (2, 0, 3)], ids=str)
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_come_back(dtype, shape, order):
    size = int(np.prod(shape))
    array = np.arange(size).reshape(shape).astype(dtype, order=order)
    loaded = packed_and_back(array)
    assert loaded.dtype == array.dtype
    assert loaded.shape == array.shape
    assert loaded.tobytes() == array.tobytes()
    assert container.order_of(loaded) == container.order_of(array)


def test_arrays_of_objects_come_back():
    values = np.array([["a", None], [1, 0.5]], dtype=object)
    loaded = packed_and_back(values)
    assert loaded.dtype == object
    assert repr(loaded) == repr(values)


def registered() -> list[tuple[str, str]]:
    return [(kind, name) for kind, table in REGISTRIES.items() for name in table.names()]


@pytest.mark.parametrize(("kind", "name"), registered(), ids=":".join)
def test_every_registered_part_comes_back(kind, name):
    part = REGISTRIES[kind].make(name)
    assert repr(packed_and_back(part)) == repr(part)
    assert type(packed_and_back(part)) is type(part)
    assert packed_and_back(type(part)) is type(part)


def test_a_part_without_a_registered_name_comes_back():
    part = LabelRegression(SquaredError())
    assert repr(packed_and_back(part)) == repr(part)


def test_a_memory_map_is_an_array_and_a_function_is_no_data(tmp_path):
    joblib = pytest.importorskip("joblib")
    X = np.random.default_rng(0).standard_normal((40, 2))
    joblib.dump(RFFBoostRegressor(learner="rff_1", n_estimators=3).fit(X, X[:, 0]), tmp_path / "model.joblib")
    mapped = joblib.load(tmp_path / "model.joblib", mmap_mode="r")
    mapped.save_model(tmp_path / "model")
    np.testing.assert_array_equal(load_model(tmp_path / "model").predict(X), mapped.predict(X))
    with pytest.raises(TypeError, match=r"learning_rate'\] is a function, which cannot be stored"):
        mapped.set_params(learning_rate=lambda index: 0.1).save_model(tmp_path / "other")
    assert not (tmp_path / "other").exists()


def test_a_generator_that_files_do_not_hold_is_named_before_one_is_written(tmp_path):
    generator = np.random.RandomState(np.random.PCG64(0))
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    model = RFFBoostClassifier(learner="rff_1", n_estimators=2, random_state=generator).fit(X, y)
    with pytest.raises(TypeError, match=r"random_state must be .* MT19937 .* PCG64"):
        model.save_model(tmp_path / "model")
    assert not list(tmp_path.iterdir())
