"""Tuning, feature selection and automated machine learning."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.metrics import roc_auc_score

from rffboost_ext import RFFBoostClassifier

from .jobs import classes, classifier, job, numbers, regressor


@job("tuning", "optuna", "`evals_result` of a callback has the metrics so far, of each model of a fit")
def optuna_study(folder):
    """A study over learners and learning rates, with trials that a callback prunes."""
    import optuna

    optuna.logging.set_verbosity(optuna.logging.ERROR)
    X, X_test, y, y_test = classes()

    def objective(trial):
        def prune(progress):
            trial.report(progress.evals_result["validation_0"]["roc_auc"][-1], progress.round.index)
            if trial.should_prune():
                raise optuna.TrialPruned

        model = classifier(
            learner="tree",
            learning_rate=trial.suggest_float("learning_rate", 1e-4, 0.3, log=True),
            n_estimators=20,
            eval_metric="roc_auc",
            callbacks=[prune],
        )
        model.fit(X, y, eval_set=[(X_test, y_test)])
        return max(model.evals_result_["validation_0"]["roc_auc"])

    pruner, sampler = optuna.pruners.MedianPruner(2, 3), optuna.samplers.RandomSampler(seed=0)
    study = optuna.create_study(direction="maximize", sampler=sampler, pruner=pruner)
    study.optimize(objective, n_trials=8)
    assert {trial.state.name for trial in study.trials} == {"COMPLETE", "PRUNED"}
    again = classifier(learner="tree", n_estimators=20, eval_metric="roc_auc", **study.best_params)
    again.fit(X, y, eval_set=[(X_test, y_test)])
    assert max(again.evals_result_["validation_0"]["roc_auc"]) == study.best_value > 0.95


@job("tuning", "hyperopt")
def hyperopt_search(folder):
    """`fmin` over nested parameters of a learner."""
    from hyperopt import Trials, fmin, hp, rand

    X, X_test, y, y_test = numbers()

    def loss(space):
        return -regressor(learner="tree").set_params(**space).fit(X, y).score(X_test, y_test)

    trials, space = Trials(), {"learner__max_depth": hp.choice("learner__max_depth", [1, 6])}
    options = {"algo": rand.suggest, "max_evals": 4, "rstate": np.random.default_rng(0), "show_progressbar": False}
    best = fmin(loss, space, trials=trials, **options)
    depths = [1, 6]
    assert loss({"learner__max_depth": depths[best["learner__max_depth"]]}) == min(trials.losses())


@job("tuning", "scikit-learn")
def halving_search(folder):
    """Successive halving over rounds, nested parameters, calibration and stacking."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.ensemble import StackingClassifier
    from sklearn.experimental import enable_halving_search_cv  # noqa: F401
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import HalvingGridSearchCV

    X, X_test, y, y_test = classes()
    model = RFFBoostClassifier(learner="tree", early_stopping=False, random_state=0)
    grid = {"learner__max_depth": [2, 4]}
    halving = {"resource": "n_estimators", "min_resources": 5, "max_resources": 20, "factor": 2, "cv": 3}
    search = HalvingGridSearchCV(model, grid, random_state=0, **halving).fit(X, y)
    assert search.best_estimator_.n_estimators_ == search.best_params_["n_estimators"]
    calibrated = CalibratedClassifierCV(classifier(), cv=3).fit(X, y)
    stack = StackingClassifier([("ours", classifier()), ("linear", LogisticRegression(max_iter=5000))], cv=3)
    for fitted in (search, calibrated, stack.fit(X, y)):
        assert roc_auc_score(y_test, fitted.predict_proba(X_test)[:, 1]) > 0.97


@job("automated machine learning", "flaml", "subclass `SKLearnEstimator`, with `n_jobs` in its parameters")
def flaml_learner(folder):
    """A custom learner of `AutoML`."""
    from flaml import AutoML, tune
    from flaml.automl.model import SKLearnEstimator

    class Ours(SKLearnEstimator):
        def __init__(self, task="binary", **config):
            super().__init__(task, **config)
            self.estimator_class = RFFBoostClassifier

        @classmethod
        def search_space(cls, data_size, task):
            return {"learning_rate": {"domain": tune.loguniform(0.05, 0.5), "init_value": 0.1}}

        def config2params(self, config):
            params = super().config2params(config)
            return {**params, "quality": "fast", "random_state": 0}

    X, X_test, y, y_test = classes()
    automl = AutoML()
    automl.add_learner("ours", Ours)
    options = {"task": "classification", "estimator_list": ["ours"], "max_iter": 3, "verbose": 0, "seed": 0}
    automl.fit(X, y, metric="roc_auc", eval_method="holdout", **options)
    assert isinstance(automl.model.estimator, RFFBoostClassifier)
    assert roc_auc_score(y_test, automl.predict_proba(X_test)[:, 1]) > 0.97


def table_with_noise() -> tuple[pd.DataFrame, np.ndarray]:
    """Two columns that matter, and four that do not."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(300, 6)), columns=list("abcdef"))
    return X, (X["a"] + X["c"] > 0).to_numpy().astype(int)


@job("feature selection", "Boruta", 'pass `n_estimators` as an integer: "auto" asks for a `max_depth`')
def boruta_selection(folder):
    """Selection by `feature_importances_`."""
    from boruta import BorutaPy

    X, y = table_with_noise()
    model = RFFBoostClassifier(learner="tree", early_stopping=False)
    selection = BorutaPy(model, n_estimators=20, max_iter=20, random_state=0).fit(X.to_numpy(), y)
    assert list(np.flatnonzero(selection.support_)) == [0, 2]


@job("feature selection", "mlxtend")
def sequential_selection(folder):
    """Sequential selection by cross-validation."""
    from mlxtend.feature_selection import SequentialFeatureSelector

    X, y = table_with_noise()
    model = RFFBoostClassifier(learner="tree", n_estimators=5, early_stopping=False, random_state=0)
    selection = SequentialFeatureSelector(model, k_features=2, cv=3).fit(X, y)
    assert set(selection.k_feature_names_) == {"a", "c"}


@job("feature selection", "feature-engine")
def shuffled_selection(folder):
    """Selection by shuffled columns, in a pipeline with its transformers."""
    from feature_engine.imputation import MeanMedianImputer
    from feature_engine.selection import SelectByShuffling
    from sklearn.pipeline import make_pipeline

    X, y = table_with_noise()
    X.loc[::9, "a"] = np.nan
    selection = SelectByShuffling(classifier(), scoring="roc_auc", cv=3, random_state=0)
    pipeline = make_pipeline(MeanMedianImputer(), selection, classifier()).fit(X, y)
    assert set("bdef") >= set(pipeline[1].features_to_drop_)
    assert pipeline[-1].n_features_in_ <= 3
    assert pipeline.score(X, y) > 0.85
