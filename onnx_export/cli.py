"""The command line: ``python -m onnx_export export|verify|info|predict``.

Fitted estimators come as joblib or pickle files: open only those that you trust, since loading one
can run any code. ONNX files hold no code.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .describe import describe_onnx
from .export import OPSET, save_onnx
from .predictor import OnnxPredictor
from .verify import verify_onnx

if TYPE_CHECKING:
    from pandas import DataFrame


def main(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit status: 0, 1 for a mismatch, 2 for an error in one sentence."""
    try:
        import typer
    except ImportError:
        print("the command line needs typer: pip install 'rffboost-ext[cli]'", file=sys.stderr)
        return 2
    app = typer.Typer(add_completion=False, help="Export boosted ensembles to ONNX, check and use the files.")
    app.command("export")(export)
    app.command("verify")(verify)
    app.command("info")(info)
    app.command("predict")(predict)
    try:
        app(args=arguments, prog_name="python -m onnx_export")
    except SystemExit as end:
        return int(end.code or 0)
    except (ValueError, TypeError, OSError, ImportError, AttributeError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def export(
    estimator: Path, model: Path, data: Path | None = None, dtype: str = "float32", opset: int = OPSET
) -> None:
    """Export the fitted ESTIMATOR (a joblib or pickle file) into the ONNX file MODEL."""
    save_onnx(unpickle(estimator), model, None if data is None else table(data), dtype=dtype, opset=opset)
    print(describe_onnx(model))


def verify(estimator: Path, model: Path, data: Path, runtime: str = "onnxruntime") -> None:
    """Compare the ONNX file MODEL with the ESTIMATOR on the rows of DATA (CSV with a header)."""
    fitted = unpickle(estimator)
    report = verify_onnx(fitted, model, features(data, fitted), runtime=runtime)
    print(report)
    if not report.passed:
        raise SystemExit(1)


def info(model: Path) -> None:
    """Say what the ONNX file MODEL holds and what it needs."""
    print(describe_onnx(model))


def predict(model: Path, data: Path, output: Path | None = None, proba: bool = False) -> None:
    """Predict the rows of DATA (CSV with a header) by the ONNX file MODEL, as CSV."""
    from pandas import DataFrame

    predictor = OnnxPredictor(model)
    X = columns_of(table(data), list(predictor.metadata.feature_names))
    if proba:
        names = [str(label) for label in getattr(predictor, "classes_", ())]
        result = DataFrame(predictor.predict_proba(X), columns=names or None)
    else:
        result = DataFrame({"prediction": predictor.predict(X).tolist()})
    result.to_csv(sys.stdout if output is None else output, index=False)


def unpickle(path: Path) -> Any:
    """The estimator in a joblib or pickle file."""
    import joblib

    try:
        return joblib.load(path)
    except OSError:
        raise
    except Exception as error:
        raise ValueError(f"{path} cannot be read as a joblib or pickle file: {error}") from error


def table(path: Path) -> DataFrame:
    """A CSV file with a header."""
    try:
        import pandas
    except ImportError as error:
        raise ImportError("reading CSV needs pandas: pip install 'rffboost-ext[cli]'") from error
    return pandas.read_csv(path)


def features(path: Path, estimator: Any) -> Any:
    """The features of a CSV file as `estimator` was fitted on them: by name where it knows names."""
    return columns_of(table(path), list(getattr(estimator, "feature_names_in_", [])))


def columns_of(data: DataFrame, names: list[str]) -> Any:
    """The columns `names` of a table, or all of them as a matrix where there are no names."""
    if not names:
        return data.to_numpy()
    missing = [name for name in names if name not in data.columns]
    if missing:
        raise ValueError(f"the data must have the columns {names}, got {list(data.columns)} without {missing}")
    return data[names]
