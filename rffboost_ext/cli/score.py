"""The command ``rffboost score``: the score of a model on files."""

from __future__ import annotations

from functools import partial
from typing import Annotated

import typer
from typer import Option

from .. import sources
from ..persistence.model_file import describe_model
from .files import Delimiter, Encoding, Files, Fitted, NullValues, load_fitted, open_files, rows_for, split_names
from .model_text import score_name

Target = Annotated[
    str | None,
    Option(metavar="NAMES", help="The column of targets or labels, or several.", show_default="that of the fit"),
]
Weight = Annotated[str | None, Option(metavar="COLUMN", help="The column of sample weights.", show_default="none")]
Group = Annotated[
    str | None, Option(metavar="COLUMN", help="The column of queries of a ranker.", show_default=False)
]


def score_command(
    model: Fitted,
    files: Files,
    target: Target = None,
    weight: Weight = None,
    group: Group = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    null_values: NullValues = None,
) -> None:
    """Score a model on the rows of files that need not fit in memory."""
    fitted = load_fitted(model)
    targets = split_names(target or describe_model(model).metadata.get("target"))
    if not targets:
        raise ValueError(f"--target must be given, since {str(model)!r} does not name the target of its fit")
    read = partial(open_files, files, delimiter=delimiter, encoding=encoding, null_values=null_values)
    roles = {"target": targets if len(targets) > 1 else targets[0], "weight": weight, "group": group}
    has_texts = any(isinstance(label, str) for label in getattr(fitted, "classes_", ()))
    rows = rows_for(fitted, partial(read, **roles), texts=targets[:1] if has_texts else ())
    value = sources.score(fitted, rows)
    typer.echo(f"{score_name(fitted) or 'score'} {value:.4g} of {rows.n_rows:,} rows")
