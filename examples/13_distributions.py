"""Predicted distributions: intervals, scores, distributions of counts in a search, and the parameters in ONNX."""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV, train_test_split

from onnx_export import save_onnx, verify_onnx
from rffboost_ext import RFFBoostDistribution
from rffboost_ext.losses import NegativeBinomial
from rffboost_ext.metrics import crps, nll

# Demand by hour and price: the mean and the spread depend on both.
rng = np.random.default_rng(0)
hour, price = rng.uniform(0.0, 24.0, 600), rng.uniform(1.0, 3.0, 600)
X = np.column_stack([hour, price])
mean = (30.0 + 20.0 * np.sin(hour / 4.0)) / price
spread = 1.0 + 0.15 * hour
y = mean + spread * rng.standard_normal(600)
orders = rng.poisson(rng.gamma(5.0, mean / 5.0))
train, test = train_test_split(np.arange(600), test_size=0.3, random_state=0)

# One frozen distribution of scipy.stats for all rows.
model = RFFBoostDistribution("normal", eval_metric=["nll", "crps"], random_state=0).fit(X[train], y[train])
predicted = model.predict_dist(X[test])
low, high = predicted.ppf([[0.05], [0.95]])
print(f"standard deviations from {predicted.std().min():.1f} to {predicted.std().max():.1f}")
print(f"NLL {nll(y[test], predicted):.2f}, CRPS {crps(y[test], predicted):.2f}")
print(f"{((low <= y[test]) & (y[test] <= high)).mean():.0%} of new targets are within intervals of 90 %")

# Which distribution of counts? The score is the mean log-likelihood.
counts = RFFBoostDistribution(learner="tree", n_estimators=50, learning_rate=0.2)
search = GridSearchCV(counts, {"distribution": ["poisson", NegativeBinomial()]}, cv=3).fit(X[train], orders[train])
cv_results = search.cv_results_
for name, score in zip(cv_results["param_distribution"], cv_results["mean_test_score"], strict=True):
    print(f"{name!s:<20} log-likelihood {score:.3f}")
chance = search.best_estimator_.predict_dist(X[test]).sf(30)
print(f"more than 30 orders: chances from {chance.min():.3f} to {chance.max():.2f}")

# The file has the parameters of the distribution.
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "demand.onnx"
    save_onnx(model, path)
    print(verify_onnx(model, path, X[test]))
