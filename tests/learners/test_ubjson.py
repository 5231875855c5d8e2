"""XGBoost's binary model format beside its JSON, read by Python's own library."""

from __future__ import annotations

import json
import struct

import numpy as np
import pandas as pd
import pytest
import xgboost as xgb

from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.learners.trees.ubjson import loads

from ..interop.test_xgboost_models import random_model


def same(found, wanted):
    """Whether two documents hold the same; the text of JSON rounds numbers to single precision."""
    if isinstance(wanted, dict):
        return found.keys() == wanted.keys() and all(same(found[name], wanted[name]) for name in wanted)
    if isinstance(wanted, list):
        return len(found) == len(wanted) and all(same(*pair) for pair in zip(found, wanted, strict=True))
    return found == (np.float32(wanted) if isinstance(wanted, float) else wanted)


def with_categories():
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"kind": pd.Categorical(rng.choice(["é", "b", "c"], 200)), "x": rng.standard_normal(200)})
    model = xgb.XGBRegressor(n_estimators=4, enable_categorical=True, n_jobs=1)
    return model.fit(data, data["kind"].cat.codes + data["x"]).get_booster()


@pytest.mark.parametrize("seed", range(12))
def test_models_hold_what_their_json_holds(seed):
    booster, _ = random_model(seed)
    assert same(loads(bytes(booster.save_raw("ubj"))), json.loads(booster.save_raw("json")))


def test_categories_and_names_are_those_of_json():
    booster = with_categories()
    booster.set_attr(note='"} [ ü')
    assert same(loads(bytes(booster.save_raw("ubj"))), json.loads(booster.save_raw("json")))


def test_a_model_without_trees_is_read():
    booster = xgb.Booster({"base_score": 0.25, "num_feature": 3}, [xgb.DMatrix(np.ones((5, 3)), np.ones(5))])
    np.testing.assert_allclose(rxgb.to_ensemble(booster).raw(np.ones((4, 3))), 0.25)


VALUES = {
    b"i\xff": -1,
    b"U\xff": 255,
    b"I" + struct.pack(">h", -300): -300,
    b"l" + struct.pack(">i", -70_000): -70_000,
    b"L" + struct.pack(">q", 2**40): 2**40,
    b"d" + struct.pack(">f", 0.5): 0.5,
    b"D" + struct.pack(">d", 0.1): 0.1,
    b"T": True,
    b"F": False,
    b"Z": None,
    b"SL" + struct.pack(">q", 3) + "aü".encode(): "aü",
}
"""Documents of one value, made by hand from the specification."""


@pytest.mark.parametrize(("raw", "wanted"), VALUES.items(), ids=repr)
def test_values_of_every_type(raw, wanted):
    assert loads(raw) == wanted
    size = struct.pack(">q", 1)
    assert loads(b"{L" + size + b"k" + raw + b"}") == {"k": wanted}
    assert loads(b"[#L" + struct.pack(">q", 2) + raw + raw) == [wanted, wanted]


@pytest.mark.parametrize("tag", "iUIlLdD")
def test_arrays_of_every_type(tag):
    code = dict(zip("iUIlLdD", "bBhiqfd", strict=True))[tag]
    raw = b"[$" + tag.encode() + b"#L" + struct.pack(">q", 3) + struct.pack(f">3{code}", 1, 2, 100)
    found = loads(b"[#L" + struct.pack(">q", 2) + raw + b"T")
    np.testing.assert_array_equal(found[0], [1, 2, 100])
    assert found[1] is True


def written(value):
    """A document of objects, lists, text, truth values, floats and lists of integers, by the specification."""
    if isinstance(value, dict):
        return b"{" + b"".join(written(name)[1:] + written(member) for name, member in value.items()) + b"}"
    if isinstance(value, str):
        return b"SL" + struct.pack(">q", len(value.encode())) + value.encode()
    if isinstance(value, bool):
        return b"T" if value else b"F"
    if isinstance(value, float):
        return b"D" + struct.pack(">d", value)
    size = struct.pack(">q", len(value))
    if value and all(type(entry) is int for entry in value):
        return b"[$l#L" + size + struct.pack(f">{len(value)}i", *value)
    return b"[#L" + size + b"".join(map(written, value))


MEMBERS = {"a": [1, 2], "b": "text", "c": 0.5, "d": {"a": [3], "e": True}}


@pytest.mark.parametrize("seed", range(5))
def test_objects_in_an_array_may_differ(seed):
    rng = np.random.default_rng(seed)
    some = [rng.permutation(list(MEMBERS))[: rng.integers(5)].tolist() for _ in range(8)]
    wanted = [{name: MEMBERS[name] for name in names} for names in some]
    wanted += [MEMBERS, MEMBERS, {"a": "text", "b": [4, 5, 6]}, {"aa": False}, [], 0.25]
    wanted = [wanted[place] for place in rng.permutation(len(wanted))]
    assert json.dumps(loads(written(wanted)), default=np.ndarray.tolist) == json.dumps(wanted)
