"""A model of TabArena and AutoGluon, which watches `X_val` and keeps to the limits of time, threads and memory.

TabArena pickles a model by the name of its module: save this file under a name that a run script can import. Needs
`pip install autogluon.tabular`. `SEARCH_SPACE` is also for `tabarena.utils.config_utils.ConfigGenerator`.
"""

import tempfile
import time

from autogluon.common.space import Categorical, Int, Real
from autogluon.core.models import AbstractModel
from sklearn.datasets import load_diabetes, load_wine
from sklearn.model_selection import train_test_split

import rffboost_ext

# The share of the time that is left for the rounds; the rest is for the weights of the stack.
SHARE = 0.95
# Bytes of the process and the kernel machines of few rows, of each entry of X, and of each score in a default fit.
PROCESS, ENTRY, SCORE = 600_000_000, 100, 400
# A tuned configuration is one mixture of cosines and symmetric trees; the default, {}, is a stack.
TUNED = {"learner": "mixture", "learner__trees": "symmetric_tree"}
SEARCH_SPACE = {
    "learning_rate": Real(0.03, 0.3, log=True),
    "learner__cosines__relative_rate": Real(1.0, 5.0, log=True),
    "learner__cosines__dense": Real(0.05, 0.5),
    "learner__trees__max_depth": Int(4, 8),
    "learner__trees__leaf": Categorical("constant", "linear"),
    "learner__trees__reg_lambda": Real(0.1, 10.0, log=True),
    "learner__trees__min_child_weight": Real(0.1, 10.0, log=True),
    "learner__trees__colsample_bytree": Real(0.5, 1.0),
}


class RFFBoostModel(AbstractModel):
    """Boosting with random Fourier features and trees."""

    ag_key = "RFFBOOST"
    ag_name = "RFFBoost"
    # The framework sets its seed by this name.
    seed_name = "random_state"
    _supported_problem_types = ("binary", "multiclass", "regression")
    # Missing values and categories are taken as they are.
    _default_auxiliary_params_extra = {"valid_raw_types": ["int", "float", "category"]}
    default_resources_physical_cores_only = True

    @classmethod
    def warmup(cls, **kwargs):
        """Load and compile what a process needs once, before TabArena starts its clock."""
        rffboost_ext.warmup()

    def _fit(self, X, y, X_val=None, y_val=None, time_limit=None, num_cpus=1, **kwargs):
        start = time.monotonic()
        X, held = self.preprocess(X, y=y), None
        if X_val is not None:
            # These rows end the fit and weight the stack: no second holdout.
            held = [(self.preprocess(X_val), y_val, kwargs.get("sample_weight_val"))]
        self.model = make_estimator(self.problem_type, self._get_model_params()).set_params(n_jobs=num_cpus)
        if time_limit is not None:
            seconds = SHARE * (time_limit - (time.monotonic() - start))
            self.model.set_params(callbacks=[rffboost_ext.TimeBudget(max(seconds, 1e-3))])
        self.model.fit(X, y, sample_weight=kwargs.get("sample_weight"), eval_set=held)

    @classmethod
    def _estimate_memory_usage_static(cls, *, X, num_classes=None, **kwargs):
        return PROCESS + len(X) * (ENTRY * X.shape[1] + SCORE * (num_classes or 1))

    def _get_default_searchspace(self):
        return SEARCH_SPACE

    def _more_tags(self):
        # Without X_val early stopping holds out rows of its own, and averages or refits.
        return {"can_refit_full": True}


def make_estimator(problem_type, params):
    """The estimator of a configuration."""
    kind = rffboost_ext.RFFBoostRegressor if problem_type == "regression" else rffboost_ext.RFFBoostClassifier
    tuned = any(name.startswith("learner__") for name in params)
    return kind().set_params(**(TUNED if tuned else {}), **params)


if __name__ == "__main__":
    RFFBoostModel.warmup()
    for load, problem in ((load_wine, "multiclass"), (load_diabetes, "regression")):
        X, X_test, y, y_test = train_test_split(*load(return_X_y=True, as_frame=True), random_state=0)
        X, X_val, y, y_val = train_test_split(X, y, random_state=0)
        with tempfile.TemporaryDirectory() as folder:
            model = RFFBoostModel(path=folder, problem_type=problem)
            model.fit(X=X, y=y, X_val=X_val, y_val=y_val, time_limit=30.0, num_cpus=1)
            print(f"{load.__name__[5:]}: score {model.score(X_test, y_test):.3f}")
