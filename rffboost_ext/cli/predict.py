"""The command ``rffboost predict``: predictions for the rows of files."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from ..sources.prediction import predictions
from ..utils.choices import check_choices
from ..utils.files import check_outputs, replaced
from ..utils.typing import Array
from .files import Files, Fitted, Reader, input_files, load_fitted, reads_files, rows_for, split_names
from .progress import bars

OUTPUTS = [".parquet", ".csv"]
# Methods of distributions and survival functions.
OF_FUNCTIONS = "predict_dist", "predict_survival_function", "predict_cumulative_hazard_function"

Predictions = Annotated[Path, Option("--out", metavar="FILE", help="The file of predictions, .parquet or .csv.")]
Method = Annotated[str, Option(metavar="NAME", help="The method of the model: predict, predict_proba, ...")]
Copied = Annotated[str | None, Option("--id", metavar="NAMES", help="Columns to copy beside the predictions.")]


@reads_files
def predict_command(
    model: Fitted, files: Files, out: Predictions, method: Method = "predict", id: Copied = None, *, read: Reader
) -> None:
    """Predict the rows of files that need not fit in memory, and write predictions in the same order."""
    check_outputs({"--out": out}, [model, *input_files(files)])
    check_choices("suffix of --out", [out.suffix.lower()], OUTPUTS)
    fitted, copied = load_fitted(model), split_names(id)
    check_choices("method", [method], [name for name in dir(fitted) if name.startswith("predict")])
    if method in OF_FUNCTIONS:
        raise ValueError(f"--method must return one or several numbers for each row, {method} does not")
    rows = rows_for(fitted, partial(read, files), copied)
    names = getattr(fitted, "feature_names_in_", [one for one in rows.columns.features if one not in copied])
    labels = getattr(fitted, "classes_", None) if method == "predict_proba" else None

    def predicted(X: Any) -> Any:
        """The table that is written for a table of Arrow."""
        return prediction_table(getattr(fitted, method)(X.select(list(names))), labels, X.select(copied))

    with bars() as display, replaced(out) as file, ExitStack() as stack:
        bar = display.add_task("predictions", total=rows.n_rows)
        writer, count = None, 0
        for table in predictions(predicted, rows):
            writer = writer or stack.enter_context(open_writer(file, out.suffix.lower(), table.schema))
            writer.write_table(table)
            count += len(table)
            display.advance(bar, len(table))
        if writer is None:
            raise ValueError("the files must have rows, got none")
    typer.echo(f"{count} rows: {out}")


def prediction_table(predicted: Array, labels: Any, copied: Any) -> Any:
    """Copied columns and predictions (m,) or (m, W) as a table of Arrow.

    Columns of probabilities have the names of the classes.
    """
    from pyarrow import table

    kind, columns = "prediction", {"prediction": predicted}
    if predicted.ndim == 2:
        kind = "prediction" if labels is None else "probability"
        names = range(predicted.shape[1]) if labels is None else labels
        columns = {f"{kind}_{name}": column for name, column in zip(names, predicted.T, strict=True)}
    if clash := sorted(columns.keys() & set(copied.column_names)):
        raise ValueError(f"--id must have other names than columns of predictions, got {clash[0]!r}")
    return table(dict(zip(copied.column_names, copied.columns, strict=True)) | columns)


def open_writer(file: Any, suffix: str, schema: Any) -> Any:
    """A writer of tables of Arrow."""
    from pyarrow.csv import CSVWriter
    from pyarrow.parquet import ParquetWriter

    return (CSVWriter if suffix == ".csv" else ParquetWriter)(file, schema)
