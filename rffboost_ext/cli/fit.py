"""The command ``rffboost fit``: a model of files, and what is known of it."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Annotated, Any

import numpy as np
import typer
from sklearn.base import is_classifier
from sklearn.metrics import accuracy_score
from typer import Option

from .. import sources
from ..boosting.early_stopping.monitor import MeanLoss
from ..boosting.scorers import score_of_loss
from ..core import Observations
from ..estimators.classifier import RFFBoostClassifier
from ..estimators.regressor import RFFBoostRegressor
from ..persistence.model_file import save_model
from ..rows.tables import FEW_ERRORS, is_number
from ..rows.targets import decode_labels
from ..sources.tables import require_names
from ..utils.choices import check_choices
from ..utils.files import check_outputs
from ..utils.typing import Array
from .files import Files, Reader, Weight, input_files, reads_files, split_names, with_features
from .model_text import columns_text, rows_text, scores_text, target_text
from .progress import Rounds, Watched, bars

TASKS = {"classification": RFFBoostClassifier, "regression": RFFBoostRegressor}
WAYS = (
    "on the command line --categories names a column of categories, --null-values cells, --exclude leaves it out"
)

Target = Annotated[str, Option(metavar="NAMES", help="The column of targets or labels, or several.")]
Out = Annotated[Path, Option("--out", metavar="FILE", help="The file of the fitted model.")]
Task = Annotated[
    str | None,
    Option(
        metavar="TASK",
        help="classification or regression. Text, categories and truth values are classes and floats are numbers; "
        "for integers the task must be given.",
        show_default="by the target",
    ),
]
Columns = Annotated[
    str | None,
    Option(metavar="NAMES", help="The features, separated by commas.", show_default="all other columns"),
]
Excluded = Annotated[str | None, Option(metavar="NAMES", help="Columns that are no features.")]
Identity = Annotated[
    str | None,
    Option("--id", metavar="NAMES", help="Columns that identify rows and are no features; see predict --id."),
]
Categories = Annotated[
    str | None, Option(metavar="NAMES", help="Features that are categories besides those of text.")
]
Params = Annotated[
    list[str] | None,
    Option(
        "--param",
        metavar="KEY=VALUE",
        help="A parameter of RFFBoostClassifier or RFFBoostRegressor, such as n_estimators=500. Can be repeated.",
    ),
]


@reads_files
def fit_command(
    files: Files,
    target: Target,
    out: Out,
    task: Task = None,
    weight: Weight = None,
    columns: Columns = None,
    exclude: Excluded = None,
    id: Identity = None,
    categories: Categories = None,
    param: Params = None,
    *,
    read: Reader,
) -> None:
    """Fit a model to files that need not fit in memory, and write it to a file."""
    begin = perf_counter()
    check_outputs({"--out": out}, input_files(files))
    targets, features = split_names(target), None if columns is None else split_names(columns)
    rows = read(files, target=targets if len(targets) > 1 else targets[0], weight=weight, columns=features)
    excluded = split_names(exclude) + split_names(id)
    if features is None:
        require_names("rffboost", "--exclude and --id", excluded, rows.columns.used, "the files")
    rows = with_features(rows, excluded, split_names(categories))
    if task != "classification" and len(targets) == 1:
        require_numbers(rows, targets[0], 1.0 if task == "regression" else FEW_ERRORS)
    model = make_estimator(task or infer_task(rows, targets), param or ())
    with bars() as display:
        progress = Rounds(display)
        fit(model.set_params(callbacks=[progress]), Watched(rows, display))
    roles = {"target": target} | ({} if weight is None else {"weight": weight})
    save_model(model.set_params(callbacks=None), out, metadata=roles)
    n_rows = rows_text(min(model.n_rows_seen_, rows.row_limit()), model.n_rows_seen_)
    typer.echo(f"{columns_text(model)}, {target_text(model, target)}, {n_rows}")
    typer.echo(held_out_text(model, progress.pairs))
    typer.echo(f"{perf_counter() - begin:.1f} s, {out.stat().st_size / 1000:,.1f} kB: {out}")


def fit(model: Any, rows: Watched) -> None:
    """Fit a model; an error that names a parameter of Python has a note with the options."""
    try:
        model.fit(rows)
    except ValueError as error:
        if "categorical_features" in str(error):
            error.add_note(f"({WAYS})")
        raise


def held_out_text(model: Any, pairs: Sequence[tuple[Observations, Array]]) -> str:
    """The score and the loss on the rows that early stopping has held out, on average over splits."""
    if not pairs:
        return "no held-out rows without early stopping: rffboost score takes other rows"
    scores = [(held_out_score(model, *pair), MeanLoss(model.loss_)(*pair)) for pair in pairs]
    return f"held-out rows: {scores_text(model, *np.mean(scores, axis=0))}"


def held_out_score(model: Any, rows: Observations, raw: Array) -> float:
    """The score of a model, accuracy or R2, for rows of encoded targets and their raw scores (n, C)."""
    raw, multilabel = rows.total(raw), model.loss_.multilabel
    if not is_classifier(model):
        return score_of_loss(model.loss_, rows.y, raw, rows.weight)
    codes = decode_labels(model.loss_.link.inverse(raw), np.arange(len(model.classes_)), multilabel)
    return float(accuracy_score(rows.y if multilabel else rows.y[:, 0], codes, sample_weight=rows.weight))


def infer_task(rows: sources.Tables, targets: Sequence[str]) -> str:
    """The task of targets by their types in Arrow; a ValueError for integers."""
    from pyarrow import types

    tasks = set()
    for name in targets:
        kind = rows.schema.field(name).type
        if types.is_integer(kind):
            raise ValueError(f"--task must be given for integers, which target {name!r} has: {' or '.join(TASKS)}")
        tasks.add("regression" if types.is_floating(kind) or types.is_decimal(kind) else "classification")
    if len(tasks) > 1:
        raise ValueError(f"--task must be given for targets of several types, {', '.join(targets)}")
    return tasks.pop()


def require_numbers(rows: sources.Tables, name: str, share: float) -> None:
    """Raise a ValueError that names a cell of a target of text if at most a share of the cells are no numbers."""
    from pyarrow import types

    if not types.is_string(rows.schema.field(name).type):
        return
    n_rows, n_errors, first = 0, 0, ""
    for part in rows.parts():
        for batch in part.batches(features=False):
            for row, cell in zip(batch.row.tolist(), np.asarray(batch.y).tolist(), strict=True):
                if not (isinstance(cell, str) and is_number(cell)):
                    first = first or f"{cell!r} as {batch.name_of(row)}"
                    n_errors += 1
            n_rows += len(batch)
    if 0 < n_errors <= share * n_rows:
        raise ValueError(
            f"target {name!r} must hold numbers or labels, got {n_errors} of {n_rows:,} cells that are no "
            f"numbers, such as {first}: take these rows out, or make labels of all cells by --task classification"
        )


def make_estimator(task: str, params: Sequence[str]) -> Any:
    """The estimator of a task with parameters KEY=VALUE, whose values are Python's or text."""
    check_choices("task", [task], list(TASKS))
    model = TASKS[task]()
    for text in params:
        name, equals, value = text.partition("=")
        if not equals:
            raise ValueError(f"--param must be KEY=VALUE, got {text!r}")
        # The callback of a fit is the display of its progress.
        check_choices("parameter", [name], sorted(model.get_params().keys() - {"callbacks"}))
        model.set_params(**{name: python_value(value)})
    return model


def python_value(text: str) -> Any:
    """A number, truth value, None or list of Python; else the text, or a list of texts with commas between."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return split_names(text) if "," in text else text
