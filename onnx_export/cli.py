"""The command line: ``python -m onnx_export export|verify|info|predict``.

Fitted estimators come as files of ``save_model``, or as joblib or pickle files: open only pickles that you trust,
since loading one can run any code. Files of ``save_model`` and ONNX files hold no code.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from rffboost_ext import load_model
from rffboost_ext.cli import execute, fail
from rffboost_ext.exporting import MAGIC, check_outputs, read_csv, require_packages, with_underscores

from .describe import describe_onnx
from .export import OPSET, save_onnx
from .predictor import OnnxPredictor
from .source import export_source
from .verify import verify_onnx

if TYPE_CHECKING:
    from pandas import DataFrame


PROGRAM = "onnx_export"


def main(arguments: list[str] | None = None) -> int:
    """Run the command line.

    Returns
    -------
    int
        Exit code: 0, 1 for a mismatch, 2 after one line on standard error that says what is wrong, or 130 if
        interrupted.
    """
    try:
        require_packages("the command line", "typer")
    except ImportError as error:
        return fail(str(error), PROGRAM)
    import typer

    app = typer.Typer(add_completion=False, help="Export boosted ensembles to ONNX, check and use the files.")
    for command in (export, verify, info, predict):
        app.command(command.__name__)(command)
    return execute(app, PROGRAM, arguments)


def export(
    estimator: Path,
    model: Path,
    data: Path | None = None,
    dtype: str = "float32",
    opset: int = OPSET,
    tree_operators: bool | None = None,
    times: str = "",
    model_version: int = 0,
) -> None:
    """Export the fitted ESTIMATOR (a file of save_model, joblib or pickle) into the ONNX file MODEL.

    TIMES, separated by commas, are those of survival functions.
    """
    check_outputs({"MODEL": model}, [estimator] if data is None else [estimator, data])
    fitted = load_estimator(estimator)
    rows = None if data is None else as_taken(fitted, read_table(data))
    grid = times.split(",") if times else None
    choices: dict[str, Any] = {"dtype": dtype, "opset": opset, "tree_operators": tree_operators, "times": grid}
    save_onnx(fitted, model, rows, **choices, model_version=model_version)
    print(describe_onnx(model))


def verify(estimator: Path, model: Path, data: Path, runtime: str = "onnxruntime", base_margin: str = "") -> None:
    """Compare the ONNX file MODEL with the ESTIMATOR on the rows of DATA (CSV with a header).

    BASE_MARGIN names the columns with the offset, separated by commas.
    """
    fitted = load_estimator(estimator)
    rows, margin = split_offset(read_table(data, OnnxPredictor(model)), base_margin)
    X = as_taken(fitted, select_columns(rows, list(getattr(fitted, "feature_names_in_", []))))
    report = verify_onnx(fitted, model, X, base_margin=margin, runtime=runtime)
    print(report)
    if not report.passed:
        from typer import Exit

        raise Exit(1)


def info(model: Path) -> None:
    """Print a summary of the ONNX file MODEL."""
    print(describe_onnx(model))


def predict(
    model: Path, data: Path, output: Path | None = None, proba: bool = False, base_margin: str = ""
) -> None:
    """Predict the rows of DATA (CSV with a header) by the ONNX file MODEL, as CSV, a column for each output.

    BASE_MARGIN names the columns with the offset, separated by commas.
    """
    from pandas import DataFrame

    check_outputs({} if output is None else {"--output": output}, [model, data])
    predictor = OnnxPredictor(model)
    rows, margin = split_offset(read_table(data, predictor), base_margin)
    X = select_columns(rows, list(predictor.metadata.feature_names))
    if proba and predictor.metadata.classes is None:
        raise ValueError(f"--proba needs a classifier, {model} holds {predictor.metadata.estimator}")
    if proba:
        probabilities = predictor.predict_proba(X, margin)
        result = DataFrame(probabilities, columns=[str(label) for label in predictor.classes_])
    else:
        result = DataFrame(prediction_columns(predictor, X, margin))
    result.to_csv(sys.stdout if output is None else output, index=False)


def prediction_columns(predictor: OnnxPredictor, X: Any, base_margin: Any) -> dict[str, Any]:
    """The predictions of a file, a column for each output, with ends of intervals and survival if it has them."""
    found = predictor.predict(X, base_margin)
    numbered = [f"prediction_{k}" for k in range(1 if found.ndim == 1 else found.shape[1])]
    several = dict(zip(predictor.response_names or numbered, found.T, strict=True)) if found.ndim > 1 else None
    columns = several or {"prediction": found}
    if predictor.has_interval:
        columns["low"], columns["high"] = predictor.predict_interval(X, base_margin).T
    if times := predictor.metadata.times:
        survival = predictor.predict_survival_function(X, base_margin)
        columns |= zip([f"survival_{time:g}" for time in times], survival.T, strict=True)
    return columns


def load_estimator(path: Path) -> Any:
    """The estimator in a file of ``save_model``, or in a joblib or pickle file."""
    with path.open("rb") as file:
        ours = file.read(len(MAGIC)) == MAGIC
    return load_model(path) if ours else unpickle(path)


def unpickle(path: Path) -> Any:
    """The estimator in a joblib or pickle file."""
    import joblib

    try:
        return joblib.load(path)
    except OSError:
        raise
    except ModuleNotFoundError as error:
        raise ValueError(f"{path} is not a pickled estimator, or needs a missing package: {error}") from error
    except Exception as error:
        raise ValueError(
            f"{path} is not a pickled estimator nor a file of save_model of rffboost_ext; load a model that "
            f"XGBoost or LightGBM wrote in its own format in Python, and write the estimator by joblib.dump"
        ) from error


def read_table(path: Path, predictor: OnnxPredictor | None = None) -> DataFrame:
    """A CSV file with a header; columns of text are read verbatim, with only empty cells missing."""
    require_packages("reading CSV", "pandas")
    import pandas

    rows: DataFrame = read_csv(path)
    words = [] if predictor is None else predictor.text_headers(list(rows.columns))
    if words:
        verbatim: dict[str, Any] = {"dtype": str, "keep_default_na": False, "na_values": [""]}
        rows[words] = pandas.read_csv(path, index_col=False, **verbatim)[words]
    return rows


def as_taken(fitted: Any, X: Any) -> Any:
    """X as an estimator takes it: its first column if the estimator is a pipeline that takes texts."""
    return np.asarray(X)[:, 0] if export_source(fitted).takes_texts else X


def split_offset(data: DataFrame, names: str) -> tuple[DataFrame, Any]:
    """A table without the columns of the offset, and these columns; None if no `names` are given."""
    columns = [name.strip() for name in names.split(",")] if names else []
    absent = [name for name in columns if name not in data.columns]
    if absent:
        raise ValueError(f"--base-margin must name columns of the data, {list(data.columns)}, got {absent[0]!r}")
    return data.drop(columns=columns), data[columns].to_numpy() if columns else None


def select_columns(data: DataFrame, names: list[str]) -> Any:
    """The columns `names` of a table, or all of them as a matrix where there are no names."""
    if not names:
        return data.to_numpy()
    names = [str(name) for name in names]
    known = {with_underscores(name): name for name in data.columns} | {name: name for name in data.columns}
    missing = [name for name in names if name not in known]
    if missing:
        raise ValueError(f"the data must have the columns {names}, got {list(data.columns)} without {missing}")
    return data[[known[name] for name in names]]
