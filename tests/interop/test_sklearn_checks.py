"""scikit-learn's checks of targets and weights for the estimators of both hosts; the rest of a host is its own."""

from __future__ import annotations

import pytest

from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb

from ..estimators.test_sklearn import OF_PARTS, checks

LABELS = "as XGBoost, it takes class indices 0 .. K-1 only"
ROUNDING = "as XGBoost, it sums derivatives in single precision, where a weight is not a repeated row"
OF_LABELS = "estimators_dtypes", "sample_weights_shape", "sample_weights_not_overwritten", "classifiers_classes"
KNOWN = {
    **{f"check_{name}": LABELS for name in OF_LABELS},
    **{f"check_sample_weight_equivalence_on_{kind}_data": ROUNDING for kind in ("dense", "sparse")},
}
MODELS = [(rxgb.XGBClassifier(), KNOWN), (rxgb.XGBRegressor(), {}), (rlgb.LGBMClassifier(), {})]
CHECKS = list(checks([*MODELS, (rlgb.LGBMRegressor(), {})], OF_PARTS))


@pytest.mark.parametrize(("estimator", "check"), CHECKS)
def test_scikit_learn_accepts(estimator, check):
    # As many rounds as a good fit, and rounding errors that are seen, need.
    is_long = "_train" in str(check) or "equivalence" in str(check)
    check(estimator.set_params(n_estimators=40 if is_long else 4, n_jobs=1))
