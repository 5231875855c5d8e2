"""The `exec.py` of a framework of AMLB, which keeps to the limits of time and cores.

Save this file as `exec.py` in a folder of `frameworks/`. Beside it belong a copy of `frameworks/flaml/__init__.py`
and a `setup.sh` that runs `PIP install rffboost-ext`. A definition of frameworks names the folder.
"""

import pandas as pd
from frameworks.shared.callee import call_run, measure_inference_times, result
from frameworks.shared.utils import Timer

import rffboost_ext

# The share of the time that is left for the rounds; the rest is for the weights of the stack.
SHARE = 0.95


def run(dataset, config):
    """Fit on the training rows of a task, and predict its test rows."""
    is_classification = config.type == "classification"
    kind = rffboost_ext.RFFBoostClassifier if is_classification else rffboost_ext.RFFBoostRegressor
    params = {name: value for name, value in config.framework_params.items() if not name.startswith("_")}
    # What a process loads once is not charged to the fit.
    rffboost_ext.warmup()
    model = kind(
        n_jobs=config.cores,
        random_state=config.seed,
        # Columns of text are categories, too.
        categorical_features="auto",
        callbacks=[rffboost_ext.TimeBudget(SHARE * config.max_runtime_seconds)],
    ).set_params(**params)
    with Timer() as training:
        model.fit(dataset.train.X, dataset.train.y.squeeze())

    def infer(rows):
        rows = pd.read_parquet(rows) if isinstance(rows, str) else rows
        return model.predict_proba(rows) if is_classification else model.predict(rows)

    X_test, inference_times = dataset.test.X, {}
    if config.measure_inference_time:
        single_rows = [(1, X_test.sample(1, random_state=seed)) for seed in range(100)]
        inference_times["file"] = measure_inference_times(infer, dataset.inference_subsample_files)
        inference_times["df"] = measure_inference_times(infer, single_rows)
    with Timer() as predict:
        predicted = infer(X_test)
    return result(
        output_file=config.output_predictions_file,
        predictions=model.classes_[predicted.argmax(axis=1)] if is_classification else predicted,
        probabilities=predicted if is_classification else None,
        probabilities_labels=model.classes_.tolist() if is_classification else None,
        truth=dataset.test.y.squeeze(),
        models_count=len(model.learners_),
        training_duration=training.duration,
        predict_duration=predict.duration,
        inference_times=inference_times,
    )


if __name__ == "__main__":
    call_run(run)
