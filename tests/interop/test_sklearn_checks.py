"""scikit-learn's checks for the estimators of both hosts; what fails is listed with its reason."""

from __future__ import annotations

import pytest
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import estimator_checks_generator

from rffboost_ext.interop import lightgbm as rlgb
from rffboost_ext.interop import xgboost as rxgb

from ..estimators.test_sklearn import name_of

LABELS = "as XGBoost, it takes class indices 0 .. K-1 only"
ROUNDING = "as XGBoost, it sums derivatives in single precision, where a weight is not a repeated row"
# Checks whose labels start at 1, or at 0 if the estimator declares categories, as from XGBoost 3.4 on.
LABELS_FROM_ONE = (
    ()
    if get_tags(rxgb.XGBClassifier()).input_tags.categorical
    else ("check_fit2d_1sample", "check_fit2d_1feature")
)
KNOWN = {
    rxgb.XGBClassifier: {
        **dict.fromkeys(
            (
                "check_estimators_dtypes",
                "check_sample_weights_pandas_series",
                "check_sample_weights_not_an_array",
                "check_sample_weights_shape",
                "check_sample_weights_not_overwritten",
                "check_classifier_data_not_an_array",
                "check_classifiers_classes",
                *LABELS_FROM_ONE,
            ),
            LABELS,
        ),
        "check_sample_weight_equivalence_on_dense_data": ROUNDING,
        "check_sample_weight_equivalence_on_sparse_data": ROUNDING,
    },
    rxgb.XGBRegressor: {},
    rlgb.LGBMClassifier: {},
    rlgb.LGBMRegressor: {},
}


def checks():
    for cls, known in KNOWN.items():
        for estimator, check in estimator_checks_generator(cls()):
            name = name_of(check)
            reason = known.get(name.split("-")[0])
            marks = [] if reason is None else [pytest.mark.xfail(reason=reason, strict=True)]
            yield pytest.param(estimator, check, marks=marks, id=f"{cls.__name__}-{name}")


@pytest.mark.parametrize(("estimator", "check"), list(checks()))
def test_scikit_learn_accepts(estimator, check):
    # As many rounds as the checks of a good fit need.
    check(estimator.set_params(n_estimators=40, n_jobs=1))
