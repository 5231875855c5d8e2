"""``check`` accepts each kind of term, and names the field that is wrong: kernels do not check bounds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rffboost_ext import Cosines, Ensemble, SymmetricTrees, Trees
from rffboost_ext.terms import KINDS, ClipAndLog, FeatureMap, ImputeAndEncode, Linear, LinearTrees, Mapped
from rffboost_ext.terms.cosine_arrays import Projection

ENDS = np.array([-1.0, -2.0]), np.array([1.0, 2.0])
ONE_SET = np.array([[1]], dtype=np.uint8)


def stump(n_outputs: int = 1) -> Trees:
    """A tree whose only split asks for a set."""
    left, right, subset = (np.array([first, -1, -1], dtype=np.int32) for first in (1, 2, 0))
    value = np.arange(3.0 * n_outputs).reshape(3, n_outputs)
    nodes = left, right, np.zeros(3, dtype=np.int32), np.zeros(3), np.zeros(3, dtype=bool), value
    return Trees(np.zeros(1, dtype=np.int64), *nodes, subset, ONE_SET)


def symmetric() -> SymmetricTrees:
    """A tree of one level, whose leaves are linear."""
    one, zero = np.ones((1, 1)), np.zeros((1, 1))
    splits = np.zeros((1, 1), dtype=np.int32), zero, np.zeros((1, 1), dtype=bool)
    return SymmetricTrees(*splits, np.ones((1, 2, 1)), np.ones((1, 2, 1, 1)), -one, one, zero)


COSINES = Cosines(
    *(np.ones((3, 2)), np.zeros(3), np.ones((3, 1)), np.zeros(2)),
    ClipAndLog(*ENDS, np.array([0.0, 0.5]), np.zeros(2)),
)
PROJECTED = Cosines(np.ones((3, 1)), np.zeros(3), np.ones((3, 1)), projection=Projection(np.ones((1, 2))))
ONE_EACH = replace(stump(), output=np.array([1]), n_outputs=2)
COLUMN = np.arange(2, dtype=np.int64)
EXPANSION = ImputeAndEncode(
    2, COLUMN[:1], np.zeros(1), COLUMN[:1], COLUMN[1:], (np.eye(4, 3),), (np.zeros((1, 1)),)
)
MAPPED = Mapped(Cosines(np.ones((1, 5)), np.zeros(1), np.ones((1, 1))), FeatureMap(EXPANSION))
SCALED = Mapped(stump(), FeatureMap(center=np.zeros(2), scale=np.ones(2)))
LINEAR = Linear(COLUMN[:1], np.ones((1, 1)), np.zeros(1), np.zeros(2))
TERMS = [COSINES, PROJECTED, LINEAR, stump(), ONE_EACH, symmetric(), LinearTrees(stump(3)), MAPPED, SCALED]


def expanded(**change) -> Mapped:
    """The term of another expansion."""
    return replace(MAPPED, feature_map=FeatureMap(replace(EXPANSION, **change)))


def clipped(**change) -> Cosines:
    """Cosines with another range."""
    return replace(COSINES, clipping=replace(COSINES.clipping, **change))


WRONG = [
    (replace(COSINES, omega=np.ones((3, 3))), r"omega must have shape \(any, 2\)"),
    (replace(COSINES, omega=np.ones((3, 2), dtype=int)), "omega must be an array of floats, got one of int64"),
    (replace(COSINES, phase=np.zeros(2)), r"phase must have shape \(3,\)"),
    (replace(COSINES, weight=np.ones((3, 2))), r"weight must have shape \(3, 1\)"),
    (replace(COSINES, center=np.zeros(3)), "center must have shape"),
    (replace(COSINES, clipping="range"), "clipping must be of type ClipAndLog"),
    (clipped(low=np.zeros(3)), "low must have shape"),
    (clipped(means=np.zeros(3)), "means must have shape"),
    (clipped(high=np.array([1.0, np.inf]), log_scale=np.array([0.0, -1.0])), "log_scale must be finite"),
    (replace(PROJECTED, projection=Projection(np.ones((1, 3)))), "matrix must have shape"),
    (replace(stump(), left=[1, -1, -1]), "left must be an array of integers, got a list"),
    (replace(stump(), feature=np.zeros(3)), "feature must be an array of integers, got one of float64"),
    (replace(stump(), feature=np.full(3, 2, dtype=np.int32)), "feature ids are out of range: 2"),
    (replace(stump(), threshold=np.zeros(3, np.float16)), "threshold must be an array of floats"),
    (replace(stump(), threshold=np.full(3, np.nan)), "thresholds must be numbers"),
    (replace(stump(), missing_left=np.zeros(3, dtype=int)), "missing_left must be an array of booleans"),
    (replace(stump(), roots=np.array([3])), "roots are out of range: 3"),
    (replace(stump(), right=np.array([2, 2, -1], np.int32)), "two children or none"),
    (replace(stump(), right=np.array([1, -1, -1], np.int32)), "must have one parent"),
    (replace(stump(), right=np.array([0, -1, -1], np.int32)), "node ids of children are out of range"),
    (replace(stump(), value=np.zeros((3, 2))), "trees must have 1 outputs, got 2"),
    (replace(stump(), value=[[0.0], [1.0], [2.0]]), "value must be an array of floats, got a list"),
    (replace(stump(), subset=np.zeros(2, np.int32)), "subset must have shape"),
    (replace(stump(), subset=np.array([9, -1, -1], np.int32)), "subset are out of range"),
    (replace(stump(), subset=np.zeros(3, np.int32)), "subset must be -1 at leaves"),
    (replace(stump(), members=None), "both subset and members"),
    (replace(stump(), members=ONE_SET[0]), "members must be of type uint8 with two dimensions"),
    (replace(stump(), members=ONE_SET.astype(np.uint32)), "members must be of type uint8"),
    (replace(ONE_EACH, n_outputs=3), "trees must have 2 outputs, got 3"),
    (replace(ONE_EACH, output=np.zeros(2, dtype=np.int64)), "output must have shape"),
    (replace(ONE_EACH, output=np.full(1, 4)), "output are out of range: 4"),
    (replace(ONE_EACH, output=np.zeros(1)), "output must be an array of integers"),
    (replace(symmetric(), feature=np.zeros((1, 17), np.int32)), "with D up to 16"),
    (replace(symmetric(), value=np.ones((1, 3, 1))), "value must have shape"),
    (replace(symmetric(), threshold=np.full((1, 1), np.nan)), "thresholds must be numbers"),
    (replace(symmetric(), low=None), "low must be an array of floats"),
    (replace(symmetric(), other=np.zeros((1, 1), np.int32)), "other and is_product"),
    (replace(symmetric().with_crosses_marked(), other=np.full((1, 1), 2, np.int32)), "other feature ids"),
    (replace(LINEAR, columns=COLUMN[1:] + 1), "columns are out of range: 2"),
    (replace(LINEAR, slope=np.ones((2, 1))), "slope must have shape"),
    (replace(LINEAR, intercept=np.zeros(2)), "intercept must have shape"),
    (replace(LINEAR, center=np.zeros(3)), "center must have shape"),
    (replace(LinearTrees(stump(3)), n_outputs=3), "trees with linear leaves must have 1 outputs, got 3"),
    (expanded(numeric=COLUMN[1:] + 1), "numeric are out of range"),
    (expanded(means=np.zeros(3)), "means must have shape"),
    (expanded(one_hot=()), "one_hot must have 1 arrays"),
    (expanded(one_hot=(np.zeros((0, 3)),)), "one_hot must have a row"),
    (expanded(categorical=np.array([-1])), "categorical are out of range"),
    (expanded(n_features=4), "expansion must be of 2 columns, got 4"),
    (expanded(regressions=(np.zeros((2, 1)),)), "regressions must have shape"),
    (replace(MAPPED, term="cosines"), "term must be of type Term"),
    (replace(SCALED, feature_map=FeatureMap(center=np.zeros(3), scale=np.ones(3))), "center must have shape"),
]


def n_outputs(term) -> int:
    """Outputs of the sound term that a term was made of."""
    return 2 if getattr(term, "output", None) is not None else 1


def test_sound_terms_of_each_kind_are_accepted():
    assert {type(term) for term in TERMS} == set(KINDS)
    for term in TERMS:
        term.check(2, n_outputs(term))
        term.check(None, None)
        Ensemble(np.zeros(n_outputs(term)), (term,), np.ones((1, 2))).check(2)


@pytest.mark.parametrize(("term", "words"), WRONG, ids=[words for _, words in WRONG])
def test_wrong_fields_are_named(term, words):
    with pytest.raises(ValueError, match=words):
        term.check(2, n_outputs(term))
