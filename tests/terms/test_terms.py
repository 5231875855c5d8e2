"""Laws of terms: scaling, stacking, standardising, storing."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest

from rffboost_ext import Cosines, Trees
from rffboost_ext.terms import ClipAndLog, FeatureMap, ImputeAndEncode, LinearTrees, Mapped
from rffboost_ext.terms import Linear as SparseLinear
from rffboost_ext.terms.batch_evaluation import outputs_of_each
from rffboost_ext.terms.cosine_arrays import Projection
from rffboost_ext.utils.sparse import SparseRows

from ..onnx.oracle import random_symmetric_trees, random_trees
from ..own_parts import Linear

D = 4


def cosines(rng, outputs=1, centered=False):
    center = 5.0 * rng.standard_normal(D) if centered else None
    return Cosines(rng.standard_normal((3, D)), rng.uniform(-3, 3, 3), rng.standard_normal((3, outputs)), center)


def trees(rng, outputs=1):
    """Two random trees of depth 2, the second with a leaf at depth 1."""
    children = np.array(
        [[1, 2], [3, 4], [5, 6], [-1] * 2, [-1] * 2, [-1] * 2, [-1] * 2, [8, 9], [-1] * 2, [-1] * 2]
    )
    leaf = children[:, 0] < 0
    n = len(children)
    return Trees(
        roots=np.array([0, 7], dtype=np.int64),
        left=children[:, 0].astype(np.int32),
        right=children[:, 1].astype(np.int32),
        feature=rng.integers(0, D, n).astype(np.int32),
        threshold=rng.standard_normal(n).astype(np.float32),
        missing_left=rng.uniform(size=n) < 0.5,
        value=np.where(leaf[:, None], rng.standard_normal((n, outputs)), 0.0),
    )


def projected(rng):
    """Cosines of two coordinates."""
    projection = Projection(rng.standard_normal((2, D)))
    return Cosines(rng.standard_normal((3, 2)), np.zeros(3), np.ones((3, 2)), np.ones(D), EXTENT, projection)


def linear(rng):
    """A linear function of two columns, clipped, with logarithms of one of them."""
    return SparseLinear(np.array([0, 2]), rng.standard_normal((2, 2)), np.ones(2), np.ones(D), TRANSFORMED)


TERMS = {
    "cosines": cosines,
    "cosines of two outputs": lambda rng: cosines(rng, 2),
    "centered cosines": lambda rng: cosines(rng, centered=True),
    "held cosines": lambda rng: replace(cosines(rng, 2, centered=True), clipping=EXTENT),
    "log-transformed cosines": lambda rng: replace(cosines(rng, 2, centered=True), clipping=TRANSFORMED),
    "trees": trees,
    "trees of three outputs": lambda rng: trees(rng, 3),
    "trees of one of three outputs each": lambda rng: replace(trees(rng), output=np.array([2, 0]), n_outputs=3),
    "symmetric trees": lambda rng: random_symmetric_trees(1, 5, D, 2),
    "symmetric trees of linear leaves": lambda rng: random_symmetric_trees(2, 5, D, linear=True),
    "trees of linear leaves": lambda rng: LinearTrees(random_trees(3, 4, D, n_outputs=2 * (D + 1)), 2),
    "projected cosines": lambda rng: projected(rng),
    "linear functions": lambda rng: linear(rng),
    "imputed linear functions": lambda rng: IMPUTED.around(replace(linear(rng), clipping=None)),
    "imputed cosines": lambda rng: IMPUTED.around(cosines(rng, centered=True)),
    "linear": lambda rng: Linear(rng.standard_normal((D, 2))),
    "standardized linear": lambda rng: STANDARD.around(Linear(rng.standard_normal((D, 2)))),
}
EXTENT = ClipAndLog(np.array([-1.0, -0.5, -np.inf, 0.1]), np.array([1.0, 2.0, 0.5, 0.1]))
TRANSFORMED = replace(EXTENT, log_scale=np.array([0.2, 0.0, -0.5, 3.0]))
CENTER, SCALE = np.linspace(-1.0, 1.0, D), np.linspace(0.5, 2.0, D)
IMPUTED = FeatureMap(
    ImputeAndEncode(D, np.arange(D), np.ones(D), np.arange(0), np.arange(0), (), (np.full((D, D), 0.2),))
)
STANDARD = FeatureMap(center=CENTER, scale=SCALE)
terms = pytest.mark.parametrize("make", TERMS.values(), ids=TERMS)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def X(rng):
    return 2.0 * rng.standard_normal((50, D))


@terms
@pytest.mark.parametrize("precision", [np.float32, np.float64])
def test_outputs_of_each_are_those_of_one_after_the_other(make, precision, rng, X):
    many, other = [make(rng) for _ in range(5)], cosines(rng, make(rng)(X).shape[1])
    X, terms = X.astype(precision).clip(min=0.0), [*many[:2], other, *many[2:]]
    expected, atol = [term(X) for term in terms], 1e-5 if precision == np.float32 else 1e-12
    for rows in (X, SparseRows.of(X)):
        np.testing.assert_allclose(outputs_of_each(terms, rows), expected, atol=atol)


def walked(term, x):
    """The outputs of trees for one row, by walking down each of them."""
    total = np.zeros(term.value.shape[1])
    for node in term.roots:
        while term.left[node] >= 0:
            value = np.float32(x[term.feature[node]])
            left = term.missing_left[node] if np.isnan(value) else value < term.threshold[node]
            node = (term.left if left else term.right)[node]
        total += term.value[node]
    return total


def scattered(term, rng):
    """The same trees with their nodes in another order, among nodes that no tree reaches."""
    n = len(term.left)
    place = rng.permutation(n + 4)[:n]

    def moved(name):
        array = getattr(term, name)
        out = np.zeros((n + 4, *array.shape[1:]), dtype=array.dtype)
        out[place] = np.where(array >= 0, place[array], -1) if name in ("left", "right") else array
        return out

    nodes = "left", "right", "feature", "threshold", "missing_left", "value"
    return Trees(place[term.roots], **{name: moved(name) for name in nodes})


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("n", [1, 256, 257, 600])
def test_rows_walk_down_trees_one_node_at_a_time(n, missing, rng):
    term = Trees.stack([trees(rng, 2) for _ in range(3)])
    X = rng.standard_normal((n, D))
    X[rng.uniform(size=X.shape) < missing] = np.nan
    expected = [walked(term, x) for x in X]
    np.testing.assert_array_equal(term(X), expected)
    np.testing.assert_array_equal(scattered(term, rng)(X), expected)


def test_nodes_of_any_links_are_walked_or_refused(rng):
    """Whatever the links are, nothing is written beyond the arrays: each tree is one, or the error says so."""
    walkable = 0
    for _ in range(300):
        n = int(rng.integers(2, 12))
        links = rng.integers(0, n, (2, n))
        for k in range(n):
            # Children come after their parent, as in all that is read.
            links[:, k] = rng.integers(k + 1, n, 2) if k + 1 < n and rng.uniform() < 0.5 else -1
        left, right = links.astype(np.int32)
        zeros = {"feature": np.zeros(n, dtype=np.int32), "missing_left": np.zeros(n, dtype=bool)}
        value, threshold = rng.standard_normal((n, 1)), np.zeros(n, dtype=np.float32)
        term = Trees(np.zeros(1, dtype=np.int64), left, right, threshold=threshold, value=value, **zeros)
        reached, waiting = [], [0]
        while waiting:
            node = waiting.pop()
            reached.append(node)
            waiting += [left[node], right[node]] if left[node] >= 0 and len(reached) < 500 else []
        x = rng.standard_normal((5, D))
        if len(set(reached)) < len(reached):
            with pytest.raises(ValueError, match="must have one parent"):
                term(x)
        else:
            walkable += 1
            np.testing.assert_array_equal(term(x), [walked(term, row) for row in x])
    assert 50 < walkable < 250


def test_frequencies_of_one_fingerprint_are_told_apart(rng, X, monkeypatch):
    term = Cosines.stack([cosines(rng, 2)] * 3)
    assert len(term.merged().omega) == 6
    hashes = "rffboost_ext.terms.cosine_arrays.row_hashes"
    monkeypatch.setattr(hashes, lambda rows: np.zeros(len(rows), dtype=np.uint64))
    np.testing.assert_allclose(term.merged()(X), term(X), rtol=0, atol=1e-12)


def test_a_node_that_is_reached_twice_is_refused(rng, X):
    term = trees(rng)
    twice = replace(term, roots=np.array([0, 7, 8]))
    for one in (twice, scattered(twice, rng)):
        with pytest.raises(ValueError, match="must have one parent"):
            one(X)


def test_values_beyond_single_precision_are_beyond_all_thresholds(rng):
    term = trees(rng)
    far = np.array([[1e300, -1e300, 1e300, -1e300]])
    np.testing.assert_array_equal(term(far), term(np.sign(far) * np.inf))


def test_outputs_of_each_want_the_columns_of_the_terms(rng, X):
    with pytest.raises(ValueError, match="X must have shape"):
        outputs_of_each([cosines(rng), cosines(rng)], X[:, :-1])


@terms
@pytest.mark.parametrize(
    "layout", [np.asfortranarray, lambda X: X.astype(np.float32), lambda X: np.repeat(X, 2, 0)[::2]]
)
def test_layout_of_the_features(make, layout, rng, X):
    X = X.astype(np.float32).astype(np.float64)
    rows = layout(X)
    rows.flags.writeable = False
    term = make(rng)
    tol = 1e-5 if rows.dtype == np.float32 else 1e-12
    np.testing.assert_allclose(term(rows), term(X), rtol=0, atol=tol)
    assert term(rows).dtype == np.float64
    assert term(rows[:0]).shape == (0, term(X).shape[1])


@terms
def test_pickle(make, rng, X):
    term = make(rng).materialized()
    stored, outputs = pickle.dumps(term), term(X)
    # What predictions prepare is left behind.
    assert pickle.dumps(term) == stored
    twin = pickle.loads(stored)
    assert type(twin) is type(term)
    np.testing.assert_array_equal(twin(X), outputs)


@pytest.mark.parametrize("name", ["cosines", "cosines of two outputs", "centered cosines", "linear", "trees"])
def test_restore_undoes_the_standardisation(name, rng, X):
    term = TERMS[name](rng)
    np.testing.assert_allclose(term.on_features(STANDARD)(X), term((X - CENTER) / SCALE), rtol=0, atol=1e-12)


@pytest.mark.parametrize("base", [Cosines, Trees, Mapped])
def test_terms_of_this_package_are_final(base):
    with pytest.raises(TypeError, match=f"Own must not derive from {base.__name__}, which is final: derive from"):
        type("Own", (base,), {})


@pytest.mark.parametrize("center", [None, CENTER])
def test_centered_is_the_same_function(center, rng, X):
    term = cosines(rng, centered=True)
    moved = term.centered(center)
    assert moved.center is center
    np.testing.assert_allclose(moved(X), term(X), rtol=0, atol=1e-12)


def test_a_center_near_the_data_keeps_digits(rng):
    # A date in seconds: omega . x is 1e9, but omega . (x - center) is small.
    X = 1e9 + rng.standard_normal((50, D))
    local = Cosines(np.ones((1, D)), np.zeros(1), np.ones((1, 1)), np.full(D, 1e9))
    exact = np.cos((X - 1e9) @ np.ones(D))[:, None]
    np.testing.assert_allclose(local(X), exact, rtol=0, atol=1e-14)
    origin = Cosines(np.ones((1, D)), np.zeros(1), np.ones((1, 1)))
    restored = origin.on_features(FeatureMap(center=np.full(D, 1e9), scale=np.ones(D)))
    np.testing.assert_allclose(restored(X), exact, rtol=0, atol=1e-14)
