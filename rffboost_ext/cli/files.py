"""Files of rows, and the options of the commands that read them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial, wraps
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any, TypeAlias

from sklearn.base import BaseEstimator
from typer import Argument, Option

from .. import sources
from ..persistence.model_file import load_model
from ..rows.category_encoding import category_kinds
from ..sources.csv_files import COMPRESSED, CSVFile
from ..sources.files import find_files
from ..sources.tables import Piece, require_names
from ..utils.choices import check_choices, comma_separated
from .model_text import booster_of

READERS = {".parquet": sources.parquet, ".csv": sources.csv, ".tsv": sources.csv}

Files = Annotated[
    list[str],
    Argument(
        metavar="FILES", help="Files .parquet, .csv, .tsv or .csv.gz, all of one kind, or patterns in quotes."
    ),
]
Fitted = Annotated[Path, Argument(metavar="MODEL", help="The file of a fitted model.")]
Weight = Annotated[str | None, Option(metavar="COLUMN", help="The column of sample weights.")]
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
        help="Cells of CSV files that are missing values besides empty ones, separated by commas.",
        show_default="NA, NaN, null and others of pyarrow",
    ),
]


Reader: TypeAlias = Callable[..., sources.Tables]
"""Opens files, with columns for each role."""


def reads_files(command: Callable[..., None]) -> Callable[..., None]:
    """Add options of CSV files to a command of typer, whose parameter `read` is :func:`open_files` with them."""
    signature = inspect.signature(command, eval_str=True)
    own = [one for one in signature.parameters.values() if one.name != "read"]
    options = {"delimiter": Delimiter, "encoding": Encoding, "null_values": NullValues}

    @wraps(command)
    def run(**values: Any) -> None:
        command(read=partial(open_files, **{name: values.pop(name) for name in options}), **values)

    shared = [
        Parameter(name, Parameter.KEYWORD_ONLY, default=None, annotation=kind) for name, kind in options.items()
    ]
    run.__signature__ = signature.replace(parameters=[*own, *shared])  # type: ignore[attr-defined]
    return run


def split_names(text: str | None) -> list[str]:
    """The names of an option, which are separated by commas; none if it is not given."""
    return [] if text is None else comma_separated(text)


def input_files(files: Sequence[str]) -> list[Path]:
    """The files of paths and patterns."""
    return [Path(file.path) for file in find_files("rffboost", files)]


def load_fitted(path: Path) -> Any:
    """The estimator in a model file."""
    return load_model(path, BaseEstimator)


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
    texts = {
        "delimiter": None if delimiter is None else {"\\t": "\t"}.get(delimiter, delimiter),
        "encoding": encoding,
        "null_values": None if null_values is None else ["", *null_values.split(",")],
    }
    options: dict[str, Any] = {name: value for name, value in texts.items() if value is not None}
    read: Reader = READERS[kinds.pop()]
    if read is not sources.csv and options:
        raise ValueError(f"--{next(iter(options)).replace('_', '-')} must be for CSV files, got files .parquet")
    return read(files, **roles, **(options | {"types": types} if read is sources.csv else {}))


def suffix_of(path: Path) -> str:
    """The last suffix of a path but that of a compressed file, in lower case."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    return next((one for one in reversed(suffixes) if one not in COMPRESSED), "")


def with_features(rows: sources.Tables, excluded: Sequence[str], categories: Sequence[str]) -> sources.Tables:
    """The same rows without some features, and with others as categories, which in CSV files are text."""
    from pyarrow import dictionary, int32, schema, string

    pieces: Sequence[Piece] = rows.pieces
    features = tuple(name for name in rows.columns.features if name not in excluded)
    require_names("rffboost", "--categories", categories, list(features), "the features")
    if not features:
        raise ValueError("--exclude must leave at least one feature, got all of them")
    columns = replace(rows.columns, features=features)
    kinds = {field.name: field.type for field in columns.types(rows.schema)}
    coded = {name: dictionary(int32(), getattr(kinds[name], "value_type", kinds[name])) for name in categories}
    files = [piece for piece in rows.pieces if isinstance(piece, CSVFile)]
    if files:
        coded = dict.fromkeys(categories, dictionary(int32(), string()))
        texts = dict.fromkeys(categories, string())
        pieces = [replace(piece, types={**piece.types, **texts}) for piece in files]
    return sources.Tables(pieces, columns, schema((kinds | coded).items()), rows.max_rows)


def rows_for(model: Any, read: Reader, copied: Sequence[str] = (), texts: Collection[str] = ()) -> sources.Tables:
    """Files with the features of a model in its types, text where it has categories of text and else numbers.

    Parameters
    ----------
    model : fitted estimator
    read : callable
        Opens the files.
    copied : sequence of str
        Further columns, which are read as they are.
    texts : collection of str
        Further columns that are text.
    """
    from pyarrow import float64, string, types

    if getattr(booster_of(model), "uses_base_margin_", False):
        raise ValueError(
            "the model needs the base_margin of each row, which commands do not read: predict and score in Python"
        )
    names = getattr(model, "feature_names_in_", None)
    words = dict.fromkeys([*texts, *(name for name in copied if names is None or name not in names)], string())
    if names is None:
        require_names("rffboost", "--id", copied, read().columns.used, "the files")
        return read(types=words)
    encoder = getattr(booster_of(model), "encoder_", None)
    kinds = category_kinds(getattr(encoder, "categories", None)) or ["none"] * len(names)
    words |= {name: string() for name, kind in zip(names, kinds, strict=True) if kind == "text"}
    columns = list(dict.fromkeys([*names.tolist(), *copied]))
    rows = read(columns=columns, types=words)
    others = [name for name in names if name not in words and types.is_string(rows.schema.field(name).type)]
    # Cells that are no numbers are named by their rows.
    return read(columns=columns, types=words | dict.fromkeys(others, float64())) if others else rows
