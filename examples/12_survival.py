"""Survival analysis: censored times, a search over losses, survival curves of new rows, and the risk in ONNX."""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV, train_test_split

from onnx_export import save_onnx, verify_onnx
from rffboost_ext import RFFBoostSurvival

# Patients of a study of ten years: age, a marker and the arm, and Weibull times to relapse.
rng = np.random.default_rng(0)
age, marker, treated = rng.uniform(30, 80, 600), rng.lognormal(size=600), rng.integers(0, 2, 600)
X = np.column_stack([age, marker, treated])
hazard = 0.1 * np.exp(0.03 * (age - 55) + 0.6 * np.sin(2.0 * np.log(marker)) - 0.7 * treated * (age < 60))
relapse, end = (rng.exponential(size=600) / hazard) ** 0.8, rng.uniform(1.0, 10.0, 600)

# As sksurv.util.Surv.from_arrays does.
y = np.zeros(600, dtype=[("relapse", bool), ("years", float)])
y["relapse"], y["years"] = relapse <= end, np.minimum(relapse, end)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y["relapse"], random_state=0)
print(f"{1.0 - y['relapse'].mean():.0%} of the times are censored")

# The score is the concordance index: the share of pairs whose risks are in the order of their events.
search = GridSearchCV(
    RFFBoostSurvival(quality="fast", random_state=0), {"loss": ["cox", "aft_logistic", "aft_extreme"]}, cv=3
)
search.fit(X_train, y_train)
for loss, score in zip(search.cv_results_["param_loss"], search.cv_results_["mean_test_score"], strict=True):
    print(f"{loss:<13} concordance of the folds {score:.3f}")
model = search.best_estimator_
print(f"on new rows {model.score(X_test, y_test):.3f}")

# Each row has a function of time; the same patient with and without treatment.
patient = np.array([[50.0, 1.0, 0.0], [50.0, 1.0, 1.0]])
for name, survival in zip(("control", "treated"), model.predict_survival_function(patient), strict=True):
    print(f"{name}: without relapse after 1, 3 and 5 years {np.round(survival([1.0, 3.0, 5.0]), 2)}")

with tempfile.TemporaryDirectory() as folder:
    path = Path(folder, "survival.onnx")
    save_onnx(model, path)
    verify_onnx(model, path, X_test, raise_on_mismatch=True)
    print(f"{path.name}: {path.stat().st_size:,} bytes, the same risks")
