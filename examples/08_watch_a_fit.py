"""Watch a fit: several metrics on several sets, a decaying learning rate, class weights, a figure.

docs/migration.md has the same script in other packages.
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification
from sklearn.metrics import classification_report
from sklearn.model_selection import train_test_split

from rffboost_ext import Decay, RFFBoostClassifier
from rffboost_ext.displays import HistoryDisplay

X, y = make_classification(3_000, 12, n_informative=6, weights=[0.9], flip_y=0.02, random_state=0)
X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
X_train, X_valid, y_train, y_valid = train_test_split(X_train, y_train, stratify=y_train, random_state=0)


def cost(y, prediction):
    """A missed positive costs ten times as much as a false alarm; less is better."""
    alarm = prediction > 0.5
    return np.mean(10.0 * ((y == 1) & ~alarm) + ((y == 0) & alarm))


model = RFFBoostClassifier(
    learner="mixture",
    learning_rate=Decay(0.3, factor=0.99),  # or any function of the round
    class_weight="balanced",
    eval_metric=["roc_auc", cost, "log_loss"],  # early stopping uses the last one
    n_iter_no_change=30,
    verbose=1,
    random_state=0,
)
model.fit(X_train, y_train, eval_set={"train": (X_train, y_train), "valid": (X_valid, y_valid)})

for name, curves in model.evals_result_.items():
    print(name, {metric: round(curve[model.n_estimators_ - 1], 4) for metric, curve in curves.items()})
print(classification_report(y_test, model.predict(X_test)))

HistoryDisplay.from_estimator(model, "log_loss").figure_.savefig("rounds.png")
print("rounds.png:", Path("rounds.png").stat().st_size, "bytes")
