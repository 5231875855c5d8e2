"""Improve an XGBoost model that exists: 50 cosines on top of it, and the gain on held-out data."""

import numpy as np
import xgboost as xgb
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split

from rffboost_ext import RFFBoostClassifier

# Two waves and a line in ten features: trees need many splits for what one cosine fits.
rng = np.random.default_rng(0)
X = rng.uniform(-2.0, 2.0, (3000, 10))
signal = np.cos(2.0 * X[:, 0] + X[:, 1]) + np.cos(X[:, 2] - 1.5 * X[:, 3]) + 0.5 * X[:, 4]
y = (signal + 0.3 * rng.standard_normal(len(X)) > 0.0).astype(int)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, random_state=0)

params = {"objective": "binary:logistic", "max_depth": 5, "eta": 0.1, "nthread": 1}
booster = xgb.train(params, xgb.DMatrix(X_train, y_train), 100)
model = RFFBoostClassifier(
    learner="rff_newton", n_estimators=50, learning_rate=0.3, early_stopping=False, random_state=0
)
model.fit(X_train, y_train, init_model=booster)
# The same number of further trees, for comparison.
longer = xgb.train(params | {"eta": 0.3}, xgb.DMatrix(X_train, y_train), 50, xgb_model=booster)

rows = {
    "XGBoost, 100 trees": booster.predict(xgb.DMatrix(X_test)),
    "and 50 more trees": longer.predict(xgb.DMatrix(X_test)),
    "and 50 cosines": model.predict_proba(X_test)[:, 1],
}
for name, p in rows.items():
    print(f"{name:>20}: accuracy {accuracy_score(y_test, p > 0.5):.3f}, log loss {log_loss(y_test, p):.3f}")
gain = log_loss(y_test, rows["XGBoost, 100 trees"]) - log_loss(y_test, rows["and 50 cosines"])
assert gain > 0.0
print(f"gain in log loss on held-out data: {gain:.3f}, with {model.n_estimators_} rounds in all")
