"""The commands ``rffboost fit`` and ``rffboost predict``: models of files."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from typer import Argument, Option

from .. import boosting, sources
from ..estimators.classifier import RFFBoostClassifier
from ..estimators.regressor import RFFBoostRegressor
from ..persistence.model_file import load_model, save_model
from ..preprocessing.category_encoding import category_kinds
from ..sources.core import Batch, Part, Source
from ..sources.csv_files import COMPRESSED
from ..sources.files import find_files
from ..utils.choices import check_choices, comma_separated
from ..utils.files import check_outputs, replaced

T = TypeVar("T")

READERS = {".parquet": sources.parquet, ".csv": sources.csv, ".tsv": sources.csv}
OUTPUTS = [".parquet", ".csv"]
TASKS = {"classification": RFFBoostClassifier, "regression": RFFBoostRegressor}

Files = Annotated[
    list[str],
    Argument(
        metavar="FILES", help="Files .parquet, .csv, .tsv or .csv.gz, all of one kind, or patterns in quotes."
    ),
]
Target = Annotated[str, Option(metavar="COLUMN", help="The column of targets or labels.")]
Model = Annotated[Path, Option("--out", metavar="FILE", help="The file of the fitted model.")]
Task = Annotated[
    str | None,
    Option(
        metavar="TASK",
        help="classification or regression. Text, categories and truth values are classes and floats are numbers; "
        "for integers the task must be given.",
        show_default="by the target",
    ),
]
Weight = Annotated[str | None, Option(metavar="COLUMN", help="The column of sample weights.", show_default=False)]
Columns = Annotated[
    str | None,
    Option(metavar="NAMES", help="The features, separated by commas.", show_default="all other columns"),
]
Params = Annotated[
    list[str] | None,
    Option(
        "--param",
        metavar="KEY=VALUE",
        help="A parameter of RFFBoostClassifier or RFFBoostRegressor, such as n_estimators=500. Can be repeated.",
        show_default=False,
    ),
]
Delimiter = Annotated[
    str | None,
    Option(
        metavar="CHARACTER", help="What separates the cells of CSV files.", show_default="a comma; a tab in .tsv"
    ),
]
Encoding = Annotated[
    str | None, Option(metavar="NAME", help="The encoding of CSV files, such as latin-1.", show_default="utf-8")
]
NullValues = Annotated[
    str | None,
    Option(
        metavar="CELLS",
        help="Cells of CSV files that are missing values, separated by commas.",
        show_default="as pyarrow",
    ),
]
Fitted = Annotated[Path, Argument(metavar="MODEL", help="The file of a fitted model.")]
Predictions = Annotated[Path, Option("--out", metavar="FILE", help="The file of predictions, .parquet or .csv.")]
Method = Annotated[str, Option(metavar="NAME", help="The method of the model: predict, predict_proba, ...")]


def fit_command(
    files: Files,
    target: Target,
    out: Model,
    task: Task = None,
    weight: Weight = None,
    columns: Columns = None,
    param: Params = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    null_values: NullValues = None,
) -> None:
    """Fit a model to files that need not fit in memory, and write it to a file."""
    check_outputs({"--out": out}, input_files(files))
    features = None if columns is None else comma_separated(columns)
    read = partial(open_files, files, delimiter=delimiter, encoding=encoding, null_values=null_values)
    rows = read(target=target, weight=weight, columns=features)
    model = make_estimator(task or infer_task(target, rows.schema.field(target).type), param or ())
    with bars() as display:
        model.set_params(callbacks=[Rounds(display)]).fit(Watched(rows, display))
    save_model(model.set_params(callbacks=None), out)
    typer.echo(f"{type(model).__name__} of {model.n_features_in_} features, {model.n_rows_seen_} rows: {out}")


def predict_command(
    model: Fitted,
    files: Files,
    out: Predictions,
    method: Method = "predict",
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    null_values: NullValues = None,
) -> None:
    """Predict the rows of files that need not fit in memory, and write predictions in the same order."""
    check_outputs({"--out": out}, [model, *input_files(files)])
    check_choices("suffix of --out", [out.suffix.lower()], OUTPUTS)
    fitted = load_model(model)
    check_choices("method", [method], [name for name in dir(fitted) if name.startswith("predict")])
    read = partial(open_files, files, delimiter=delimiter, encoding=encoding, null_values=null_values)
    rows = rows_for(fitted, read)
    labels = getattr(fitted, "classes_", None) if method == "predict_proba" else None
    with bars() as display, replaced(out) as file:
        bar = display.add_task("predictions", total=rows.n_rows)
        writer, count = None, 0
        for part in sources.predict(fitted, rows, method):
            table = prediction_table(part, labels)
            writer = writer or open_writer(file, out.suffix.lower(), table.schema)
            writer.write_table(table)
            count += len(part)
            display.advance(bar, len(part))
        if writer is None:
            raise ValueError("the files must have rows, got none")
        writer.close()
    typer.echo(f"{count} rows: {out}")


def input_files(files: Sequence[str]) -> list[Path]:
    """The files of paths and patterns."""
    return [Path(file.path) for file in find_files("rffboost", files)]


def open_files(
    files: Sequence[str],
    delimiter: str | None = None,
    encoding: str | None = None,
    null_values: str | None = None,
    types: Mapping[str, Any] | None = None,
    **roles: Any,
) -> sources.Tables:
    """Files of one kind as a source of rows; `types` of columns are for CSV files, others have their own."""
    kinds = {suffix_of(file) for file in input_files(files)}
    if len(kinds) > 1:
        raise ValueError(f"files must be of one kind, got {', '.join(sorted(kinds))}")
    check_choices("kind of files", list(kinds), list(READERS))
    given = {
        "delimiter": None if delimiter is None else {"\\t": "\t"}.get(delimiter, delimiter),
        "encoding": encoding,
        "null_values": None if null_values is None else null_values.split(","),
    }
    options: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    read: Callable[..., sources.Tables] = READERS[kinds.pop()]
    if read is not sources.csv and options:
        raise ValueError(f"--{next(iter(options)).replace('_', '-')} must be for CSV files, got files .parquet")
    return read(files, **roles, **(options | {"types": types} if read is sources.csv else {}))


def suffix_of(path: Path) -> str:
    """The last suffix of a path but that of a compressed file, in lower case."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return next((one for one in reversed(suffixes) if one not in COMPRESSED), "")


def rows_for(model: Any, read: Callable[..., sources.Tables]) -> sources.Tables:
    """Files with the features of a model, in its types: text where it has categories of text, and else numbers."""
    from pyarrow import float64, string, types

    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return read()
    encoder = getattr(getattr(model, "estimator_", model), "encoder_", None)
    kinds = category_kinds(getattr(encoder, "categories", None)) or ["none"] * len(names)
    texts = {name: string() for name, kind in zip(names, kinds, strict=True) if kind == "text"}
    rows = read(columns=names.tolist(), types=texts)
    others = [name for name in names if name not in texts and types.is_string(rows.schema.field(name).type)]
    # Cells that are no numbers are named by their rows.
    return read(columns=names.tolist(), types=texts | dict.fromkeys(others, float64())) if others else rows


def infer_task(target: str, kind: Any) -> str:
    """The task of a target of a type of Arrow; a ValueError for integers."""
    from pyarrow import types

    if types.is_integer(kind):
        raise ValueError(f"--task must be given for integers, which target {target!r} has: {' or '.join(TASKS)}")
    return "regression" if types.is_floating(kind) or types.is_decimal(kind) else "classification"


def make_estimator(task: str, given: Sequence[str]) -> Any:
    """The estimator of a task with parameters KEY=VALUE, whose values are Python's or text."""
    check_choices("task", [task], list(TASKS))
    model = TASKS[task]()
    for text in given:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--param must be KEY=VALUE, got {text!r}")
        check_choices("parameter", [name], sorted(model.get_params()))
        model.set_params(**{name: python_value(value)})
    return model


def python_value(text: str) -> Any:
    """A number, truth value, None or list of Python; else the text."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return text


def prediction_table(predicted: Any, labels: Any) -> Any:
    """Predictions (m,) or (m, W) as a table of Arrow; columns of probabilities have the names of the classes."""
    from pyarrow import table

    if predicted.ndim == 1:
        return table({"prediction": predicted})
    kind = "prediction" if labels is None else "probability"
    names = range(predicted.shape[1]) if labels is None else labels
    return table({f"{kind}_{name}": column for name, column in zip(names, predicted.T, strict=True)})


def open_writer(file: Any, suffix: str, schema: Any) -> Any:
    """A writer of tables of Arrow."""
    from pyarrow.csv import CSVWriter
    from pyarrow.parquet import ParquetWriter

    return (CSVWriter if suffix == ".csv" else ParquetWriter)(file, schema)


@contextmanager
def bars() -> Iterator[Progress]:
    """Progress bars on standard error."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn()
    with Progress(*columns, TimeElapsedColumn(), TimeRemainingColumn(), console=Console(stderr=True)) as display:
        yield display


class Rounds:
    """A callback with a bar for each model of a fit."""

    def __init__(self, display: Progress) -> None:
        self.display = display
        self.bars: dict[str, Any] = {}

    def __call__(self, progress: boosting.callbacks.Progress) -> None:
        name = str(progress.model) or "rounds"
        if name not in self.bars:
            self.bars[name] = self.display.add_task(name, total=progress.n_estimators)
        self.display.advance(self.bars[name])

    def close(self) -> None:
        """Fill the bars of models that early stopping has ended."""
        for task in self.display.tasks:
            if task.id in self.bars.values():
                self.display.update(task.id, total=task.completed)


class Watched(Source):
    """A source with a bar for each pass over its rows."""

    def __init__(self, rows: Source, display: Progress) -> None:
        super().__init__(rows.max_rows)
        self.rows, self.display, self.n_rows = rows, display, rows.n_rows

    def name_of(self, row: int) -> str:
        return self.rows.name_of(row)

    def parts(self) -> Sequence[Part]:
        return self.rows.parts()

    def reduce(self, read: Callable[[Part], T], merge: Callable[[T, T], T], features: bool = True) -> T:
        bar = self.display.add_task("reading" if features else "reading targets", total=self.n_rows)
        return self.rows.reduce(lambda part: read(WatchedPart(part, self.display, bar)), merge, features)


class WatchedPart:
    """A part that moves a bar."""

    def __init__(self, part: Part, display: Progress, bar: Any) -> None:
        self.part, self.display, self.bar = part, display, bar

    def batches(self, features: bool = True) -> Iterator[Batch]:
        """The batches of the part."""
        for batch in self.part.batches(features):
            yield batch
            self.display.advance(self.bar, len(batch))
