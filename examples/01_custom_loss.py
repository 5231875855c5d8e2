"""A loss of your own: Huber's, in plain NumPy, used by name in a grid search.

A loss is a class with three methods and a link. Raw scores and targets are (n, 1) arrays here; nothing is
compiled. Registration is optional: ``RFFBoostRegressor(loss=Huber(delta=0.5))`` works as well.
"""

import numpy as np
from sklearn.model_selection import GridSearchCV, train_test_split

from rffboost_ext import LOSSES, Loss, RFFBoostRegressor
from rffboost_ext.losses import IdentityLink


@LOSSES.register("my_huber")
class Huber(Loss):
    """Half the squared error up to `delta`, linear beyond: the influence of outliers is bounded.

    Parameters
    ----------
    delta : float, default=1.0
        The error beyond which the loss is linear, in units of the target.
    """

    exact_hessian = False  # `derivatives` returns an upper bound, so that steps use a line search
    link = IdentityLink()
    scored_by = "r2"  # what `score` is; by default minus the mean loss

    def __init__(self, delta=1.0):
        self.delta = delta

    def value(self, y, raw):
        size = np.abs(raw - y)
        near = 0.5 * size**2
        far = self.delta * (size - 0.5 * self.delta)
        return np.where(size <= self.delta, near, far)[:, 0]

    def derivatives(self, y, raw):
        gradient = np.clip(raw - y, -self.delta, self.delta)
        return gradient, np.ones_like(raw)

    def baseline(self, y, weight):
        # The constant at which the weighted gradients cancel, by bisection.
        low, high = y.min(), y.max()
        while high - low > 1e-9 * max(1.0, abs(low), abs(high)):
            middle = 0.5 * (low + high)
            gradient, _ = self.derivatives(y, np.full_like(y, middle))
            low, high = (low, middle) if weight @ gradient[:, 0] > 0 else (middle, high)
        return np.array([low])


# A sine wave; one target in ten is off by 10.
rng = np.random.default_rng(0)
X = rng.uniform(-3.0, 3.0, size=(400, 1))
truth = np.sin(2.0 * X[:, 0])
y = truth + 0.1 * rng.standard_normal(400) + 10.0 * (rng.uniform(size=400) < 0.1)
X_train, X_test, y_train, _, _, truth_test = train_test_split(X, y, truth, random_state=0)

model = RFFBoostRegressor(quality="fast", random_state=0)
grid = {"loss": ["squared_error", "my_huber", Huber(delta=0.3)]}
search = GridSearchCV(model, grid, scoring="neg_median_absolute_error", cv=3).fit(X_train, y_train)

for loss, score in zip(grid["loss"], search.cv_results_["mean_test_score"], strict=True):
    print(f"{loss!s:>18}: median absolute error {-score:.3f}")
error = np.abs(search.predict(X_test) - truth_test).mean()
print(f"best: {search.best_params_['loss']}, mean distance from the true curve {error:.3f}")
