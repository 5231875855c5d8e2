"""Model files: the same bits again, whole or not at all, one clear error for whatever is no model file."""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import pickle
import random
import struct
import warnings
from dataclasses import dataclass, replace
from pathlib import Path

import joblib
import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.exceptions import NotFittedError

from rffboost_ext import (
    LEARNERS,
    Cosines,
    Ensemble,
    Learner,
    RFFBoostClassifier,
    RFFBoostRegressor,
    Term,
    Tree,
    baselines,
    load_model,
    save_model,
    storable,
)
from rffboost_ext.losses import Signed, SquaredError
from rffboost_ext.storage import container, leftovers, write_atomically
from rffboost_ext.storage.values import KINDS, REGISTRIES, Packer, Unpacker, kind_named
from rffboost_ext.terms import Standardized

from .cases import LOSS_CASES, PAIR_NAMES, PAIRS, LearnerCase, make_data, make_estimator

Array = np.ndarray
pairs = pytest.mark.parametrize(("loss", "learner"), PAIRS, ids=PAIR_NAMES)
REAL = next(case for case in LOSS_CASES if case.name == "squared_error")
TERNARY = next(case for case in LOSS_CASES if case.name == "log_loss of 3 classes")
RANDOM = np.random.default_rng(0)
X, Y = RANDOM.standard_normal((80, 3)), RANDOM.integers(2, size=80)
FEW = {"n_estimators": 4, "random_state": 0, "early_stopping": False}


def through_a_file(model, path: Path):
    save_model(model, path)
    return load_model(path)


def through_pickle(model, path: Path):
    return pickle.loads(pickle.dumps(model))


def through_joblib(model, path: Path):
    joblib.dump(model, path)
    return joblib.load(path)


ways = pytest.mark.parametrize("way", [through_a_file, through_pickle, through_joblib])


def again(model, folder: Path):
    return through_a_file(model, folder / "model.rffboost")


def assert_same(one, other, X: Array) -> None:
    """All that a model says, to the bit."""
    assert type(one) is type(other)
    assert repr(one.get_params()) == repr(other.get_params())
    assert repr(one.loss_) == repr(other.loss_)
    assert one.n_features_in_ == other.n_features_in_
    for dtype in (np.float64, np.float32):
        np.testing.assert_array_equal(one.ensemble_.raw(X.astype(dtype)), other.ensemble_.raw(X.astype(dtype)))
    for ours, theirs in zip(one.staged_predict(X), other.staged_predict(X), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(one.transform(X), other.transform(X))
    if one.task == "classification":
        np.testing.assert_array_equal(one.predict_proba(X), other.predict_proba(X))
        np.testing.assert_array_equal(one.classes_, other.classes_)
        assert one.classes_.dtype == other.classes_.dtype


@pairs
@ways
def test_the_same_model_again(loss, learner, way, tmp_path):
    X, y = make_data(loss)
    model = make_estimator(loss, learner, n_estimators=3).fit(X, y)
    assert_same(model, way(model, tmp_path / "model"), np.vstack([X, 3.0 * X]))


@pytest.mark.parametrize(
    "params",
    [
        {},
        {"early_stopping": True, "n_folds": 3, "n_estimators": 20},
        {"early_stopping": True, "n_folds": 1, "n_estimators": 20, "validation_fraction": np.float64(0.3)},
        {"quality": "high", "early_stopping": True, "n_estimators": 4},
        {"learner": Tree(monotone_constraints=np.array([1, 0, -1]), interaction_constraints=[(0, 1), [2]])},
        {"random_state": np.random.RandomState(3), "n_jobs": np.int64(1), "standardize": False},
    ],
    ids=["default", "folds", "held out", "stacked", "arrays", "generator"],
)
def test_whatever_the_parameters(params, tmp_path):
    model = RFFBoostRegressor(**(FEW | params)).fit(X, np.sin(X[:, 0]))
    loaded = again(model, tmp_path)
    for name, value in model.get_params(deep=False).items():
        assert type(value) is type(getattr(loaded, name)), name
    if not isinstance(model.random_state, np.random.RandomState):
        assert_same(model, loaded, X)
    else:
        assert model.random_state.randint(2**31) == loaded.random_state.randint(2**31)
    if hasattr(model, "validation_scores_"):
        np.testing.assert_array_equal(model.validation_scores_, loaded.validation_scores_)


@pytest.mark.parametrize(
    "labels",
    [
        np.array(["no", "yes, certainly"]),
        np.array(["ja", "größer"], dtype=object),
        np.array([False, True]),
        np.array([-3, 7], dtype=np.int16),
        np.array([1.0, 2.0], dtype=np.float32),
    ],
    ids=["text", "objects", "truth", "integers", "floats"],
)
def test_classes_and_names_of_columns(labels, tmp_path):
    frame = pd.DataFrame(X, columns=["a", "b c", "é"])
    model = RFFBoostClassifier(**FEW).fit(frame, labels[Y])
    loaded = again(model, tmp_path)
    np.testing.assert_array_equal(loaded.feature_names_in_, model.feature_names_in_)
    assert loaded.feature_names_in_.dtype == model.feature_names_in_.dtype
    np.testing.assert_array_equal(loaded.classes_, model.classes_)
    assert loaded.classes_.dtype == model.classes_.dtype
    np.testing.assert_array_equal(loaded.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names"):
        loaded.predict(frame.rename(columns={"a": "z"}))


@ways
@pytest.mark.parametrize("learner", [*LEARNERS.names()])
def test_a_warm_start_goes_on_as_if_nothing_had_been(learner, way, tmp_path):
    case = REAL
    X, y = make_data(case)
    model = make_estimator(case, LearnerCase(learner, lambda: LEARNERS.create(learner)), warm_start=True).fit(X, y)
    loaded = way(model, tmp_path / "model")
    for one in (model, loaded):
        one.set_params(n_estimators=9).fit(X, y)
    assert len(loaded.ensemble_) == 9
    np.testing.assert_array_equal(model.predict(X), loaded.predict(X))


def test_three_classes_on_top_of_another_model(tmp_path):
    X, y = make_data(TERNARY)
    first = RFFBoostClassifier(learner="tree", **FEW).fit(X, y)
    second = RFFBoostClassifier(learner="rff_newton", warm_start=True, **FEW).fit(X, y, init_model=first)
    loaded = again(second, tmp_path)
    assert_same(second, loaded, X)
    for one in (second, loaded):
        one.set_params(n_estimators=6).fit(X, y)
    assert len(loaded.ensemble_) == 10
    assert_same(second, loaded, X)


@ways
def test_an_ensemble_by_itself(way, tmp_path):
    model = RFFBoostRegressor(**FEW).fit(X, X[:, 0])
    mixed = 0.5 * model.ensemble_ + model.ensemble_[:2]
    loaded = way(mixed, tmp_path / "ensemble")
    assert isinstance(loaded, Ensemble)
    np.testing.assert_array_equal(loaded.raw(X), mixed.raw(X))
    np.testing.assert_array_equal(loaded.moves, mixed.moves)


def test_arrays_that_are_shared_stay_shared(tmp_path):
    model = RFFBoostRegressor(learner="rff_newton", **FEW).fit(X, X[:, 0])
    loaded = again(model, tmp_path)
    assert len({id(term.center) for term in loaded.ensemble_.terms}) == 1
    assert all(term.omega.flags.writeable and term.omega.flags.owndata for term in loaded.ensemble_.terms)


def test_the_file_does_not_depend_on_when_it_is_written(tmp_path):
    model = RFFBoostRegressor(**FEW).fit(X, X[:, 0])
    for name in ("one", "other"):
        model.save_model(tmp_path / name)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "other").read_bytes()


# Values ----------------------------------------------------------------------------------------------------------


def packed_and_back(value):
    packer = Packer()
    data = packer.pack(value, "value")
    contents, arrays = container.unpacked("test", container.packed("test", data, packer.arrays))
    return Unpacker(arrays).unpack(contents)


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


@pytest.mark.parametrize(
    "part",
    [
        Signed(SquaredError()),
        baselines.Matern(),
        baselines.RidgePair(),
        baselines.BestSVC(kernels=[baselines.Kernel("rbf", gamma=0.5)]),
    ],
    ids=lambda part: type(part).__name__,
)
def test_parts_without_a_registered_name_come_back(part):
    assert repr(packed_and_back(part)) == repr(part)


def test_models_of_the_papers_come_back(tmp_path):
    model = baselines.mkboost(n_estimators=3, random_state=0).fit(X, Y)
    with pytest.warns(UserWarning, match="callbacks"):
        loaded = again(model, tmp_path)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))


# A user's own classes --------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Line(Term):
    """A linear function."""

    slope: Array

    def __call__(self, X):
        return X @ self.slope

    def scaled(self, factor):
        return Line(factor * self.slope)

    @classmethod
    def stack(cls, terms):
        return cls(sum(term.slope for term in terms))


class LeastSquares(Learner):
    """Fits one."""

    def fit(self, round):
        return Line(np.linalg.lstsq(round.design.X, round.residual, rcond=None)[0])


@pytest.fixture
def doors():
    """What is entered in a test goes with it."""
    kinds, learners = dict(KINDS), dict(LEARNERS._table)
    yield
    KINDS.clear()
    KINDS.update(kinds)
    LEARNERS._table.clear()
    LEARNERS._table.update(learners)


def linear_model() -> RFFBoostRegressor:
    return RFFBoostRegressor(learner=LeastSquares(), **FEW).fit(X, X[:, 0])


def test_what_has_no_name_is_named_before_anything_is_written(doors, tmp_path):
    path, model = tmp_path / "model", linear_model()
    with pytest.raises(TypeError, match=r"RFFBoostRegressor.*learner.*LeastSquares.*register the part"):
        model.save_model(path)
    LEARNERS.register("least_squares")(LeastSquares)
    with pytest.raises(TypeError, match=r"terms\[0\].*Line, which has no name to be stored by.*storable"):
        model.save_model(path)
    assert list(tmp_path.iterdir()) == []


def test_a_users_own_classes_are_stored_through_the_same_doors(doors, tmp_path):
    model = linear_model()
    LEARNERS.register("least_squares")(LeastSquares)
    storable("tests.Line")(Line)
    loaded = again(model, tmp_path)
    assert isinstance(loaded.learner, LeastSquares)
    assert_same(model, loaded, X)


def test_a_user_says_how_a_class_is_stored(doors):
    class Counter:
        def __init__(self):
            self.seen = {"a": 1}

    def build(state):
        made = Counter()
        made.seen = state["seen"]
        return made

    with pytest.raises(TypeError, match="state and build must be given"):
        storable("tests.Counter")(Counter)
    storable("tests.Counter", vars, build)(Counter)
    counter = Counter()
    counter.seen["b"] = 2
    assert packed_and_back(counter).seen == {"a": 1, "b": 2}
    with pytest.raises(ValueError, match=r"'tests.Counter' is taken by .*Counter"):
        storable("tests.Counter")(Line)


def test_what_is_not_registered_where_a_file_is_loaded(doors, tmp_path):
    LEARNERS.register("least_squares")(LeastSquares)
    storable("tests.Line")(Line)
    linear_model().save_model(tmp_path / "model")
    del LEARNERS._table["least_squares"]
    with pytest.raises(ValueError, match=r"model' holds 'learner:least_squares', which is not known here"):
        load_model(tmp_path / "model")


@pytest.mark.parametrize("name", [3, "loss:mine"])
def test_names_that_cannot_be(name):
    with pytest.raises(TypeError, match="storable wants a name without a colon"):
        storable(name)


# What cannot be saved --------------------------------------------------------------------------------------------


def test_a_model_that_is_not_fitted(tmp_path):
    with pytest.raises(NotFittedError):
        RFFBoostClassifier().save_model(tmp_path / "model")
    assert list(tmp_path.iterdir()) == []


def test_callbacks_are_left_out_with_a_word(tmp_path):
    model = RFFBoostClassifier(callbacks=[lambda progress: None], **FEW).fit(X, Y)
    with pytest.warns(UserWarning, match="callbacks are no part of a model file"):
        model.save_model(tmp_path / "model")
    assert load_model(tmp_path / "model").callbacks is None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.set_params(callbacks=None).save_model(tmp_path / "model")


@pytest.mark.parametrize("path", ["missing/model", Path("missing") / "model"])
def test_a_folder_that_is_not_there(path, tmp_path):
    with pytest.raises(FileNotFoundError, match="path must be in an existing folder"):
        save_model(Ensemble(np.zeros(1), (), np.empty((0, 2))), tmp_path / path)


def test_a_path_that_is_none():
    with pytest.raises(TypeError):
        save_model(Ensemble(np.zeros(1), (), np.empty((0, 2))), 3)


@pytest.mark.parametrize("step", ["fsync", "replace"])
def test_a_write_that_fails_leaves_what_was_there(step, tmp_path, monkeypatch):
    path = tmp_path / "model"
    write_atomically(path, b"good")

    def fails(*args):
        raise OSError("no space left on device")

    monkeypatch.setattr(os, step, fails)
    with pytest.raises(OSError, match="no space"):
        write_atomically(path, b"bad")
    assert path.read_bytes() == b"good"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_is_followed_and_leftovers_are_found(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write_atomically(tmp_path / "link", b"data")
    assert (tmp_path / "real").read_bytes() == b"data"
    assert (tmp_path / "link").is_symlink()
    stale = tmp_path / ".real.0123456789ab.tmp"
    stale.touch()
    assert leftovers(tmp_path / "link") == [stale]


# What cannot be loaded -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def good() -> bytes:
    """A small model with cosines and trees."""
    model = RFFBoostClassifier(**(FEW | {"n_estimators": 2, "learner": "mixture"})).fit(X, np.array(["a", "b"])[Y])
    packer = Packer()
    return container.packed("model", packer.pack(model, "model"), packer.arrays)


@pytest.fixture(scope="module")
def place(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("damaged") / "model"


def flipped(data: bytearray, rng: random.Random) -> bytes:
    for _ in range(rng.choice([1, 1, 1, 2, 20])):
        data[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def cut(data: bytearray, rng: random.Random) -> bytes:
    return bytes(data[: rng.randrange(len(data))])


def overwritten(data: bytearray, rng: random.Random) -> bytes:
    start, size = rng.randrange(len(data)), rng.choice([1, 16, 512])
    data[start : start + size] = rng.randbytes(len(data[start : start + size]))
    return bytes(data)


def inserted(data: bytearray, rng: random.Random) -> bytes:
    start = rng.randrange(len(data) + 1)
    data[start:start] = rng.randbytes(rng.choice([1, 7, 64]))
    return bytes(data)


def deleted(data: bytearray, rng: random.Random) -> bytes:
    start = rng.randrange(len(data))
    del data[start : start + rng.choice([1, 7, 64])]
    return bytes(data)


def doubled(data: bytearray, rng: random.Random) -> bytes:
    return bytes(data + data[rng.randrange(len(data)) :])


DAMAGES = [flipped, cut, overwritten, inserted, deleted, doubled]


@settings(max_examples=1_000, deadline=None, suppress_health_check=list(HealthCheck))
@given(damage=st.sampled_from(DAMAGES), seed=st.integers(0, 2**32))
def test_a_thousand_damaged_files(good, place, damage, seed):
    data = damage(bytearray(good), random.Random(seed))
    if data == good:
        return
    place.write_bytes(data)
    with pytest.raises(ValueError, match=r"model' (is damaged|was not written)"):
        load_model(place)


def sealed(header: bytes, arrays: bytes, version: int = 1) -> bytes:
    """A file of version 1, written down from its description."""
    body = b"\x93RFFB\r\n\x1a" + struct.pack("<QQ", version, len(header)) + header + arrays
    return body + hashlib.sha256(body).digest()


def nodes(data, path=()):
    """All places in JSON."""
    yield path
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in children:
        yield from nodes(value, (*path, key))


def replaced(data, path, value):
    """JSON with another value at a place."""
    if not path:
        return value
    data = data.copy()
    data[path[0]] = replaced(data[path[0]], path[1:], value)
    return data


ODD = [
    None,
    True,
    -1,
    10**9,
    10**30,
    0.5,
    "",
    "os.system",
    [],
    {},
    [[]],
    {"array": 0},
    {"array": 99},
    {"tuple": 3},
]


@settings(max_examples=500, deadline=None, suppress_health_check=list(HealthCheck))
@given(place_in_header=st.integers(0, 10**6), odd=st.sampled_from(ODD), move=st.integers(0, 400))
def test_a_forged_file_with_a_right_checksum_does_not_crash(good, place, place_in_header, odd, move):
    version, text, arrays = container.sections(good)
    header, raw = json.loads(text), bytearray(arrays)
    places = list(nodes(header))
    header = replaced(header, places[place_in_header % len(places)], odd)
    raw[move % len(raw)] ^= 0xFF
    place.write_bytes(sealed(json.dumps(header).encode(), bytes(raw), version))
    try:
        model = load_model(place)
    except ValueError:
        return
    # What loads is a model of another content, and safe to be asked.
    with np.errstate(all="ignore"), contextlib.suppress(ValueError, TypeError, AttributeError, IndexError):
        model.predict(X)


def test_walks_of_forged_trees_end(good, place):
    for name in ("left", "right", "feature", "roots"):
        model = RFFBoostRegressor(learner="tree", **FEW).fit(X, X[:, 0])
        trees = model.ensemble_.terms[0]
        forged = getattr(trees, name).copy()
        forged[0] = 10**6 if name != "left" else 0
        terms = (replace(trees, **{name: forged}),)
        packer = Packer()
        data = packer.pack(Ensemble(np.zeros(1), terms, np.ones((1, 2))), "ensemble")
        place.write_bytes(container.packed("model", data, packer.arrays))
        if name == "feature":
            # By itself an ensemble does not know how many features there are; its trees ask for as many.
            with pytest.raises(ValueError, match="d >= 1000001"):
                load_model(place).raw(X)
            continue
        with pytest.raises(ValueError, match="out of range"):
            load_model(place)


@pytest.mark.parametrize(
    "contents",
    [
        {"part": ["os.system", {"command": "true"}]},
        {"part": ["builtins:eval", {"source": "1"}]},
        {"part": ["posix.system", {}]},
        {"class": "subprocess.Popen"},
        {"part": ["learner:subprocess.Popen", {}]},
        {"eval": "1 + 1"},
        {"list": [], "tuple": []},
    ],
    ids=str,
)
def test_a_file_runs_no_code(contents, tmp_path):
    header = {"kind": "model", "written_by": "somebody", "contents": contents, "arrays": []}
    (tmp_path / "model").write_bytes(sealed(json.dumps(header).encode(), b""))
    with pytest.raises(ValueError, match=r"model' holds"):
        load_model(tmp_path / "model")


def foreign() -> dict[str, bytes]:
    archive = io.BytesIO()
    np.savez(archive, a=np.zeros(3))
    return {
        "empty": b"",
        "text": b"hello\n",
        "pickle": pickle.dumps({"a": 1}),
        "zip": archive.getvalue(),
        "json": b'{"learner": {}}',
        "only the beginning": b"\x93RFFB\r\n\x1a",
    }


@pytest.mark.parametrize("name", foreign())
def test_foreign_files(name, tmp_path):
    (tmp_path / "model").write_bytes(foreign()[name])
    with pytest.raises(ValueError, match=r"model' (was not written by rffboost_ext|is damaged)"):
        RFFBoostClassifier.load_model(tmp_path / "model")


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        load_model(tmp_path / "model")


def test_a_model_of_another_kind(tmp_path):
    RFFBoostRegressor(**FEW).fit(X, X[:, 0]).save_model(tmp_path / "model")
    with pytest.raises(ValueError, match="holds a RFFBoostRegressor, not a RFFBoostClassifier"):
        RFFBoostClassifier.load_model(tmp_path / "model")
    assert isinstance(RFFBoostRegressor.load_model(tmp_path / "model"), RFFBoostRegressor)


# Versions --------------------------------------------------------------------------------------------------------

OMEGA, PHASE, WEIGHT, CENTER = np.array([[0.5, -1.0]]), np.array([0.25]), np.array([[2.0]]), np.array([1.0, 2.0])


def file_of_version_1() -> bytes:
    """A regressor of one cosine and one stump, as the first release wrote it. This must load for ever."""
    stump = [
        np.array([0]),
        np.array([1, -1, -1], dtype=np.int32),
        np.array([2, -1, -1], dtype=np.int32),
        np.array([0, 0, 0], dtype=np.int32),
        np.array([0.5, 0.0, 0.0], dtype=np.float32),
        np.array([True, False, False]),
        np.array([[0.0], [-1.0], [1.0]]),
    ]
    arrays = [np.array([3.0]), OMEGA, PHASE, WEIGHT, CENTER, *stump, np.array([[1.0, 0.5], [1.0, 2.0]])]
    names = ["roots", "left", "right", "feature", "threshold", "missing_left", "value"]
    cosine = {name: {"array": i} for i, name in enumerate(["omega", "phase", "weight", "center"], 1)}
    trees = {name: {"array": i} for i, name in enumerate(names, 5)}
    terms = {"tuple": [{"part": ["Cosines", cosine]}, {"part": ["Trees", trees]}]}
    ensemble = {"baseline": {"array": 0}, "terms": terms, "moves": {"array": 12}}
    params = [["learner", {"part": ["learner:rff_1", {"gamma": 2.0}]}], ["n_estimators", 2], ["tol", 1e-7]]
    fitted = [
        ["n_features_in_", 2],
        ["ensemble_", {"part": ["Ensemble", ensemble]}],
        ["loss_", {"part": ["loss:squared_error", {}]}],
        ["feature_names_in_", {"objects": [[2], ["a", "b"]]}],
    ]
    header = {
        "kind": "model",
        "written_by": "rffboost_ext 0.1.0",
        "contents": {"part": ["RFFBoostRegressor", {"params": {"dict": params}, "fitted": {"dict": fitted}}]},
        "arrays": [[array.dtype.str, list(array.shape), "C"] for array in arrays],
    }
    return sealed(json.dumps(header).encode(), b"".join(array.tobytes() for array in arrays))


def test_a_file_of_version_1(tmp_path):
    (tmp_path / "model").write_bytes(file_of_version_1())
    model = RFFBoostRegressor.load_model(tmp_path / "model")
    frame = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, -2.0]})
    cosine = 2.0 * np.cos((frame.to_numpy() - CENTER) @ OMEGA[0] - 0.25)
    np.testing.assert_allclose(model.predict(frame), 3.0 + 0.5 * cosine + 2.0 * np.array([-1.0, 1.0]), atol=1e-12)
    assert (model.learner.gamma, model.n_estimators, model.tol, model.learning_rate) == (2.0, 2, 1e-7, 0.1)


def test_a_file_of_a_later_version(tmp_path):
    (tmp_path / "model").write_bytes(sealed(b"{}", b"", version=container.VERSION + 1))
    with pytest.raises(ValueError, match=r"is of version \d+ of the format; this release reads up to version \d+"):
        load_model(tmp_path / "model")


def test_a_file_of_an_earlier_version_is_brought_up_to_date(tmp_path, monkeypatch):
    """As it will be when the names of a header change: 'regressor' here, 'RFFBoostRegressor' from version 2 on."""

    def newer(header):
        name, state = header["contents"]["part"]
        assert name == "regressor"
        return header | {"contents": {"part": ["RFFBoostRegressor", state]}}

    monkeypatch.setattr(container, "VERSION", 2)
    monkeypatch.setitem(container.UPGRADES, 1, newer)
    old = file_of_version_1()
    _, text, arrays = container.sections(old)
    renamed = text.replace(b'"RFFBoostRegressor"', b'"regressor"')
    (tmp_path / "model").write_bytes(sealed(renamed, bytes(arrays)))
    assert load_model(tmp_path / "model").n_features_in_ == 2


def test_what_is_written_is_what_the_description_says(tmp_path):
    """Read again by a reader of its own, from the table in the documentation."""
    model = RFFBoostRegressor(learner="rff_newton", **FEW).fit(X, X[:, 0])
    model.save_model(tmp_path / "model")
    data = (tmp_path / "model").read_bytes()
    assert hashlib.sha256(data[:-32]).digest() == data[-32:]
    version, length = struct.unpack("<QQ", data[8:24])
    header = json.loads(data[24 : 24 + length])
    assert (version, header["kind"]) == (1, "model")
    assert header["written_by"].startswith("rffboost_ext ")
    start, arrays = 24 + length, []
    for dtype, shape, order in header["arrays"]:
        size = np.dtype(dtype).itemsize * int(np.prod(shape))
        arrays.append(np.frombuffer(data[start : start + size], dtype).reshape(shape, order=order))
        start += size
    assert start == len(data) - 32
    fitted = dict(header["contents"]["part"][1]["fitted"]["dict"])
    state = fitted["ensemble_"]["part"][1]
    np.testing.assert_array_equal(arrays[state["baseline"]["array"]], model.ensemble_.baseline)
    name, first = state["terms"]["tuple"][0]["part"]
    assert kind_named(name).cls is Cosines
    np.testing.assert_array_equal(arrays[first["omega"]["array"]], model.ensemble_.terms[0].omega)


def test_standardized_terms_come_back(doors):
    storable("tests.Line")(Line)
    term = Standardized(Line(np.ones((3, 1))), np.arange(3.0), np.ones(3))
    np.testing.assert_array_equal(packed_and_back(term)(X), term(X))
