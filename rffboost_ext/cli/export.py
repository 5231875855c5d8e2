"""The command ``rffboost export``: a model as an ONNX file, which is compared with it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from ..persistence.model_file import describe_model
from ..sources.tables import Tables
from ..utils.files import check_outputs, write_atomically
from .files import Fitted, Reader, input_files, load_fitted, reads_files, rows_for, split_names

Onnx = Annotated[Path, Argument(metavar="OUT.onnx", help="The ONNX file.")]
Verify = Annotated[
    list[str] | None,
    Option(metavar="FILE", help="Rows on which the ONNX file is compared with the model. Can be repeated."),
]
Dtype = Annotated[str, Option(metavar="TYPE", help="The numbers of the graph: float32, mixed or float64.")]
Opset = Annotated[int | None, Option(metavar="NUMBER", help="The operator set of ONNX.", show_default="13")]
TreeOperators = Annotated[
    bool | None, Option(help="Whether trees are tree operators or tensor operators.", show_default="by the trees")
]
Times = Annotated[
    str | None, Option(metavar="NUMBERS", help="The times of survival functions.", show_default="none")
]


@reads_files
def export_command(
    model: Fitted,
    out: Onnx,
    verify: Verify = None,
    dtype: Dtype = "float32",
    opset: Opset = None,
    tree_operators: TreeOperators = None,
    times: Times = None,
    *,
    read: Reader,
) -> None:
    """Write a model as an ONNX file; with --verify only if its predictions are equal, else the exit code is 1."""
    from onnx_export import to_onnx, verify_onnx

    check_outputs({"OUT.onnx": out}, [model, *(input_files(verify) if verify else [])])
    fitted, file, X = load_fitted(model), describe_model(model), None
    if verify:
        X = table_of(rows_for(fitted, partial(read, verify)))
    graph = to_onnx(
        fitted,
        dtype=dtype,
        tree_operators=tree_operators,
        times=None if times is None else split_names(times),
        metadata=file.metadata,
        model_version=file.model_version,
        **({} if opset is None else {"opset": opset}),
    )
    if verify:
        report = verify_onnx(fitted, graph, X, runtime="auto")
        typer.echo(report)
        if not report.passed:
            raise typer.Exit(1)
    write_atomically(out, graph.SerializeToString())
    typer.echo(f"{out.stat().st_size / 1000:,.1f} kB: {out}")


def table_of(rows: Tables) -> Any:
    """All rows as one table of Arrow."""
    from pyarrow import concat_tables

    batches = [batch.X for part in rows.parts() for batch in part.batches()]
    if not batches:
        raise ValueError("--verify must name files with rows, got none")
    return concat_tables(batches)
