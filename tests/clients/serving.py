"""Files, tracking, serving and other schedulers."""

from __future__ import annotations

import runpy
from pathlib import Path
from unittest.mock import patch

import numpy as np
from sklearn.model_selection import cross_val_score

from onnx_export import save_onnx

from .jobs import classes, classifier, job, numbers, regressor

EXAMPLES = Path(__file__).parents[2] / "examples"


@job(
    "tracking",
    "mlflow",
    '`log_model(model, serialization_format="cloudpickle")`; classifiers: '
    '`evaluator_config={"explainability_algorithm": "permutation"}`',
)
def mlflow_run(folder):
    """A model that is logged, loaded, and evaluated with SHAP plots."""
    import matplotlib
    import mlflow

    matplotlib.use("Agg")
    mlflow.set_tracking_uri(f"sqlite:///{folder}/runs.db")
    mlflow.set_experiment(experiment_id=mlflow.create_experiment("jobs", artifact_location=f"file://{folder}/a"))
    X, X_test, y, y_test = classes()
    model = classifier().fit(X, y)
    config = {"explainability_algorithm": "permutation", "explainability_nsamples": 10}
    with mlflow.start_run():
        options = {"pip_requirements": [], "serialization_format": "cloudpickle"}
        info = mlflow.sklearn.log_model(model, name="model", **options)
        found = mlflow.models.evaluate(
            info.model_uri,
            X_test.assign(label=y_test),
            targets="label",
            model_type="classifier",
            evaluator_config=config,
        )
    np.testing.assert_array_equal(mlflow.sklearn.load_model(info.model_uri).predict(X_test), model.predict(X_test))
    assert found.metrics["accuracy_score"] == model.score(X_test, y_test)
    assert any("shap" in name for name in found.artifacts)


@job("serving", "fastapi", "the server needs ONNX Runtime only")
def fastapi_server(folder):
    """An exported file behind an endpoint."""
    import onnxruntime
    from fastapi import FastAPI
    from fastapi.testclient import TestClient

    X, X_test, y, _ = numbers()
    model = regressor().fit(X.to_numpy(), y)
    save_onnx(model, folder / "model.onnx")
    session, app = onnxruntime.InferenceSession(folder / "model.onnx"), FastAPI()

    @app.post("/predict")
    def predict(rows: list[list[float]]) -> list[float]:
        (name,) = (one.name for one in session.get_inputs())
        return session.run(None, {name: np.array(rows, dtype=np.float32)})[0].ravel().tolist()

    answer = TestClient(app).post("/predict", json=X_test.to_numpy().tolist())
    np.testing.assert_allclose(answer.json(), model.predict(X_test.to_numpy()), rtol=1e-4)


@job("serving", "openvino", 'compile with `{"INFERENCE_PRECISION_HINT": "f32"}`')
def openvino_model(folder):
    """An exported file of cosines, with an f32 hint."""
    import openvino

    X, X_test, y, _ = classes()
    model = classifier(learner="rff_newton").fit(X.to_numpy(), y)
    save_onnx(model, folder / "model.onnx")
    compiled = openvino.Core().compile_model(folder / "model.onnx", "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    rows = X_test.to_numpy().astype(np.float32)
    found = [np.asarray(value) for value in compiled(rows).values()]
    known = model.predict_proba(X_test.to_numpy())
    assert min(np.abs(value - known).max() for value in found if value.shape == known.shape) < 1e-5


@job("files", "skops", "types to trust: `skops.io.get_untrusted_types`")
def skops_file(folder):
    """A file without pickle."""
    import skops.io

    X, X_test, y, _ = numbers()
    model = regressor().fit(X, y)
    skops.io.dump(model, folder / "model.skops")
    trusted = skops.io.get_untrusted_types(file=folder / "model.skops")
    assert all(name.startswith(("rffboost_ext.", "numpy.")) for name in trusted)
    again = skops.io.load(folder / "model.skops", trusted=trusted)
    np.testing.assert_array_equal(again.predict(X_test), model.predict(X_test))


@job("files", "joblib")
def joblib_file(folder):
    """Files with memory maps."""
    import joblib

    X, X_test, y, _ = numbers()
    model = regressor(learner="rff_ridge").fit(X, y)
    joblib.dump(model, folder / "model.joblib")
    again = joblib.load(folder / "model.joblib", mmap_mode="r")
    np.testing.assert_array_equal(again.predict(X_test), model.predict(X_test))


@job("distribution", "distributed", 'joblib\'s backend "dask"')
def dask_backend(folder):
    """A cross-validation on workers of Dask."""
    import joblib
    from distributed import Client

    X, _, y, _ = numbers()
    client = Client(n_workers=1, threads_per_worker=1, processes=False, dashboard_address=None)
    with client, joblib.parallel_config("dask"):
        found = cross_val_score(regressor(), X, y, cv=3)
    np.testing.assert_array_equal(found, cross_val_score(regressor(), X, y, cv=3))


@job("distribution", "ray", "see `examples/14_ray_and_spark.py`")
def rows_on_ray(folder):
    """A fit to files that Ray's workers read."""
    check_cluster()


@job("distribution", "pyspark", "see `examples/14_ray_and_spark.py`; Spark needs Java")
def rows_on_spark(folder):
    """A fit to files that Spark's executors read."""
    check_cluster("spark")


def check_cluster(*arguments):
    """The model of the example has the bits of a fit without a cluster."""
    script = str(EXAMPLES / "14_ray_and_spark.py")
    with patch("sys.argv", [script, *arguments]):
        found = runpy.run_path(script, run_name="__main__")
    rows = found["X"][:1_000]
    np.testing.assert_array_equal(found["model"].predict(rows), found["alone"].predict(rows))


@job("serving", "duckdb", "see `examples/15_duckdb.py`; the function needs ONNX Runtime only")
def function_of_sql(folder):
    """An exported file as a function of SQL."""
    found = runpy.run_path(str(EXAMPLES / "15_duckdb.py"))
    table = found["database"].sql(
        f"SELECT *, predicted_rent(district, area, distance) FROM '{found['folder']}/homes.csv'"
    )
    predicted = [row[-1] for row in table.fetchall()]
    np.testing.assert_allclose(predicted, found["model"].predict(found["new"]), rtol=1e-4)
