"""Explanations, fairness and causal effects."""

from __future__ import annotations

import numpy as np

from .jobs import classes, classifier, job, numbers, regressor


@job("explaining", "shap", "`shap_explanation` is exact and needs no sampling")
def shap_explainer(folder):
    """`shap.Explainer(model.predict, X)` and the plots of `shap_explanation`."""
    import matplotlib
    import shap

    matplotlib.use("Agg")
    X, X_test, y, _ = numbers()
    model = regressor().fit(X, y)
    ours = model.shap_explanation(X_test[:3], X[:30])
    theirs = shap.Explainer(model.predict, X[:30], algorithm="permutation", seed=0)(X_test[:3], max_evals=2000)
    np.testing.assert_allclose(ours.values, theirs.values, rtol=0, atol=2.0)
    np.testing.assert_allclose(ours.values.sum(axis=1), theirs.values.sum(axis=1), rtol=1e-6)
    shap.plots.beeswarm(ours, show=False)


@job("explaining", "lightgbm", "the explained scores are without `baseline_`")
def tree_explainer(folder):
    """`shap.TreeExplainer` of an estimator of `rffboost_ext.interop`."""
    import shap

    from rffboost_ext.interop.lightgbm import LGBMClassifier

    X, X_test, y, _ = classes()
    model = LGBMClassifier(loss="exponential", n_estimators=10, verbose=-1).fit(X, y)
    explainer = shap.TreeExplainer(model)
    scores = explainer.shap_values(X_test).sum(axis=1) + explainer.expected_value
    # The trees grow on log-odds, twice the raw score of the exponential loss.
    np.testing.assert_allclose(scores / 2.0 + model.baseline_, model.decision_function(X_test), atol=1e-6)


@job("explaining", "lime")
def lime_explanation(folder):
    """Local linear models of `predict_proba`."""
    from lime.lime_tabular import LimeTabularExplainer

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    model = classifier().fit(X, X[:, 2] > 0)
    explainer = LimeTabularExplainer(X, mode="classification", random_state=0, discretize_continuous=False)
    weights = dict(explainer.explain_instance(X[0], model.predict_proba, num_features=4).as_map()[1])
    assert max(weights, key=weights.get) == 2


@job("explaining", "dalex")
def dalex_parts(folder):
    """Permutation importances and break-down of a prediction."""
    import dalex

    X, X_test, y, y_test = numbers()
    model = regressor().fit(X, y)
    explainer = dalex.Explainer(model, X_test, y_test, verbose=False)
    parts = explainer.model_parts(random_state=0).result
    columns = parts[~parts["variable"].str.startswith("_")]
    assert columns.sort_values("dropout_loss")["variable"].iloc[-1] in {"bmi", "s5"}
    shares = explainer.predict_parts(X_test.iloc[[0]]).result
    np.testing.assert_allclose(shares["cumulative"].iloc[-1], model.predict(X_test.iloc[[0]])[0])


@job("explaining", "interpret-core")
def interpret_dependence(folder):
    """Partial dependence of `predict_proba`."""
    from interpret.blackbox import PartialDependence
    from sklearn.inspection import partial_dependence

    X, _, y, _ = classes()
    model = classifier().fit(X, y)
    found = PartialDependence(model.predict_proba, X).explain_global().data(0)
    grid = np.asarray(found["names"], dtype=float)
    known = partial_dependence(model, X, [0], custom_values={0: grid}, response_method="predict_proba")
    scores = np.asarray(found["scores"])
    np.testing.assert_allclose(scores if scores.ndim == 1 else scores[:, -1], known["average"][0], atol=1e-6)


@job("explaining", "eli5")
def eli5_importances(folder):
    """Permutation importances."""
    from eli5.sklearn import PermutationImportance

    X, X_test, y, y_test = numbers()
    found = PermutationImportance(regressor().fit(X, y), random_state=0).fit(X_test.to_numpy(), y_test)
    assert list(X)[np.argmax(found.feature_importances_)] in {"bmi", "s5"}


@job("fairness", "fairlearn")
def fairlearn_reduction(folder):
    """Reductions, which weight rows, and thresholds by group."""
    from fairlearn.metrics import demographic_parity_difference
    from fairlearn.postprocessing import ThresholdOptimizer
    from fairlearn.reductions import DemographicParity, ExponentiatedGradient

    rng = np.random.default_rng(0)
    X, group = rng.normal(size=(500, 3)), rng.integers(0, 2, 500)
    y = (X[:, 0] + 0.9 * group > 0.4).astype(int)
    X[:, 1] += group

    def gap(predicted):
        return demographic_parity_difference(y, predicted, sensitive_features=group)

    model = classifier(learner="tree")
    before = gap(model.fit(X, y).predict(X))
    reduced = ExponentiatedGradient(model, DemographicParity(), max_iter=6).fit(X, y, sensitive_features=group)
    assert gap(reduced.predict(X, random_state=0)) < 0.5 * before
    moved = ThresholdOptimizer(estimator=model, prefit=True, predict_method="predict_proba")
    moved.fit(X, y, sensitive_features=group)
    assert gap(moved.predict(X, sensitive_features=group, random_state=0)) < 0.5 * before


@job("causal inference", "econml")
def econml_effect(folder):
    """Double machine learning with both nuisance models."""
    from econml.dml import LinearDML

    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 3))
    treatment = np.sin(X[:, 0]) + rng.normal(size=800)
    y = 2.0 * treatment + X[:, 0] ** 2 + 0.5 * rng.normal(size=800)
    estimate = LinearDML(model_y=regressor(), model_t=regressor(), cv=3, random_state=0)
    estimate.fit(y, treatment, X=X[:, :1], W=X[:, 1:])
    assert abs(estimate.ate(X[:, :1]) - 2.0) < 0.15
