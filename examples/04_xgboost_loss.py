"""Swap XGBoost's loss: any of ours, or your own, in its native loop and in its scikit-learn estimators."""

import numpy as np
import xgboost as xgb
from sklearn.datasets import load_diabetes, make_moons
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from rffboost_ext import Loss
from rffboost_ext.interop import xgboost as rxgb
from rffboost_ext.losses import IdentityLink

# In the scikit-learn interface a loss is a parameter. Intercept and link come with it.
X, y = make_moons(1000, noise=0.3, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
for loss in ("log_loss", "exponential"):
    model = rxgb.XGBClassifier(loss=loss, n_estimators=50, max_depth=3, n_jobs=1).fit(X_train, y_train)
    print(f"{loss:>11}: log loss {log_loss(y_test, model.predict_proba(X_test)):.3f}")

# In the native loop it is an objective and a metric. `intercept` starts the loop from the loss's baseline.
train, test = xgb.DMatrix(X_train, y_train), xgb.DMatrix(X_test, y_test)
objective = rxgb.objective("exponential")
booster = xgb.train(
    {"max_depth": 3, "nthread": 1} | rxgb.intercept("exponential", train),
    train,
    200,
    obj=objective,
    custom_metric=objective.metric,
    evals=[(test, "test")],
    early_stopping_rounds=10,
    verbose_eval=False,
)
print("stopped early, best round:", booster.best_iteration)
model = rxgb.bind(booster[: booster.best_iteration + 1], objective)
probabilities = model.predict_proba(X_test)
print(f"log loss of the best round: {log_loss(y_test, probabilities):.3f}")


class Asymmetric(Loss):
    """Squared error that weighs a prediction below the target four times."""

    link = IdentityLink()

    def _weight(self, y, raw):
        return np.where(raw < y, 4.0, 1.0)

    def value(self, y, raw):
        return (0.5 * self._weight(y, raw) * (raw - y) ** 2)[:, 0]

    def derivatives(self, y, raw):
        return self._weight(y, raw) * (raw - y), self._weight(y, raw)

    def baseline(self, y, weight):
        middle = np.average(y)
        for _ in range(50):  # Newton's method
            gradient, hessian = self.derivatives(y, np.full_like(y, middle))
            middle -= (weight @ gradient)[0] / (weight @ hessian)[0]
        return np.array([middle])


# A loss of your own needs three methods in NumPy and a link.
X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)
for loss in ("squared_error", Asymmetric()):
    model = rxgb.XGBRegressor(loss=loss, n_estimators=30, max_depth=2, n_jobs=1).fit(X_train, y_train)
    below = np.mean(model.predict(X_test) < y_test)
    print(f"{loss!s:>13}: baseline {model.baseline_[0]:.1f}, {100 * below:.0f} % of predictions are too low")
