"""Labels of LightGBM's classifier in types that NumPy does not know."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

lightgbm = pytest.importorskip("rffboost_ext.interop.lightgbm")


def test_large_nullable_labels_stay_apart_and_missing_ones_are_named():
    X, labels = np.arange(60.0)[:, None], [2**60, 2**60 + 1] * 30
    model = lightgbm.LGBMClassifier(n_estimators=2, verbose=-1).fit(X, pd.Series(labels, dtype="Int64"))
    assert model.classes_.tolist() == labels[:2]
    with pytest.raises(ValueError, match=r"y must hold labels, got .* as entry 1, a missing value"):
        model.fit(X, pd.Series([1, None] * 30, dtype="Int64"))
    with pytest.raises(TypeError, match="y must hold labels of one type, got int and str"):
        model.fit(X, ["a", 1] * 30)
