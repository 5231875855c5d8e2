"""A recipe of your own: a weak learner and a rule for its training, in the stack of the default fit.

The learner is component-wise linear boosting: each round fits a line to the feature of the largest correlation.
It returns the term `Linear` of this package, so that files and ONNX need no further code.

Run it with ``python examples/21_own_recipe.py [FOLDER]``; the files go to FOLDER, by default to a temporary one.
"""

import sys
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.model_selection import train_test_split

from onnx_export import save_onnx, verify_onnx
from rffboost_ext import LEARNERS, Learner, RFFBoostRegressor, SymmetricTree, storable
from rffboost_ext.recipes import Facts, MemberRule, choose_recipe
from rffboost_ext.terms import Linear


@LEARNERS.register("best_line")
class BestLine(Learner):
    """The line of the feature that explains the residual best."""

    def fit(self, round):
        X, residual, weight = round.design.X, round.residual, round.weight / round.weight.sum()
        center = weight @ X
        Z, mean = X - center, weight @ residual
        slopes = (weight[:, None] * Z).T @ (residual - mean) / (weight @ Z**2 + 1e-12)[:, None]
        gain = (slopes**2).sum(axis=1) * (weight @ Z**2)
        best = int(gain.argmax())
        return Linear(np.array([best]), slopes[[best]], mean, center)


@storable("example.NotFarBehind")
@dataclass(frozen=True)
class NotFarBehind:
    """Train further models if the first one has at most `ratio` times the least loss of the other members."""

    ratio: float

    def is_met(self, runs, others):
        # `scores` are the losses on held-out rows, before the first and after every round.
        if not runs:
            return True
        least = min(models[0].scores.min() for models in others)
        return bool(runs[0].scores.min() <= self.ratio * least)


folder = Path(sys.argv[1] if len(sys.argv) > 1 else tempfile.mkdtemp())
X, y = load_diabetes(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, random_state=0)

# The recipe of the default fit, with one more member, and shallower trees.
default = choose_recipe(Facts(n_samples=len(X_train), n_features=X.shape[1]))
line = MemberRule("lines", BestLine(), learning_rate=0.5, when=NotFarBehind(1.1))
recipe = replace(default, members=[*default.members, line]).changed(
    "trees", learner=SymmetricTree(leaf="linear", max_depth=3)
)
print(recipe)

model = RFFBoostRegressor(quality=recipe, random_state=0).fit(X_train, y_train)
print(dict(zip(model.member_names_, model.learner_weights_.round(2).tolist(), strict=True)))
print(f"R2 on test rows: {model.score(X_test, y_test):.3f}")

# A file holds the recipe, the learner and the rule by their names.
model.save_model(folder / "model.rffboost")
again = RFFBoostRegressor.load_model(folder / "model.rffboost")
assert str(again.recipe_) == str(recipe)
assert (again.predict(X_test) == model.predict(X_test)).all()

save_onnx(model, folder / "model.onnx")
print(verify_onnx(model, folder / "model.onnx", X_test, raise_on_mismatch=True))
