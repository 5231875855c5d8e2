"""A minute of model files with other values or arrays and a right checksum: a ValueError, or predictions."""

from __future__ import annotations

import random
import time

import numpy as np
import pytest

from rffboost_ext import RFFBoostClassifier, RFFBoostRegressor, load_model
from rffboost_ext.persistence import container
from rffboost_ext.persistence.values import Packer

from .model_file_cases import FEW, X, Y
from .test_damaged_files import ODD, nodes, replaced

CHANGES = [
    lambda array: array.astype(np.float16),
    lambda array: array.astype(np.int64),
    lambda array: array.astype("U5"),
    lambda array: array[:0],
    lambda array: array[:-1],
    lambda array: array[..., None],
    lambda array: -array,
]


@pytest.mark.slow
@pytest.mark.parametrize("learner", ["mixture", "tree", "symmetric_tree", "rff_ridge"])
def test_forged_files_are_refused_or_predict(learner, tmp_path):
    rng, path = random.Random(0), tmp_path / "model"
    for cls, y in ((RFFBoostClassifier, np.array(["a", "b"])[Y]), (RFFBoostRegressor, X[:, 0])):
        packer = Packer()
        contents = packer.pack(cls(learner=learner, **FEW).fit(X, y), "model")
        places, end = list(nodes(contents)), time.monotonic() + 8.0
        while time.monotonic() < end:
            forged, arrays, at = contents, list(packer.arrays), rng.randrange(len(packer.arrays))
            if rng.random() < 0.5:
                forged = replaced(contents, rng.choice(places), rng.choice(ODD))
            else:
                try:
                    arrays[at] = rng.choice(CHANGES)(arrays[at])
                except (TypeError, ValueError, IndexError):
                    continue
            path.write_bytes(container.encode("model", forged, arrays))
            try:
                model = load_model(path)
                with np.errstate(all="ignore"):
                    assert len(model.predict(X)) == len(X)
            except ValueError:
                continue
