"""The command ``rffboost info``: what is in a model file, or in one of ONNX."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

import numpy as np
import typer

from ..estimators.planning import MANY_COPIES
from ..persistence.model_file import ModelDescription, describe_model
from .files import Fitted, load_fitted
from .model_text import abridged, booster_of, columns_text, feature_kinds, loss_name


def info_command(model: Fitted) -> None:
    """Say what is in a model file, or in one of ONNX: features, classes, loss, members, versions and metadata."""
    if model.suffix.lower() == ".onnx":
        from onnx_export import describe_onnx

        typer.echo(describe_onnx(model))
        return
    lines = list(description(load_fitted(model), describe_model(model)))
    width = max(len(name) for name, _ in lines)
    for name, text in lines:
        typer.echo(f"{name:<{width}}  {text}")


def description(model: Any, file: ModelDescription) -> Iterator[tuple[str, str]]:
    """Names and texts of what a model is."""
    booster = booster_of(model)
    yield "model", f"{type(model).__name__}, written by {file.written_by}"
    if file.model_version:
        yield "version", str(file.model_version)
    yield from file.metadata.items()
    if hasattr(model, "classes_"):
        yield "classes", f"{len(model.classes_)}: {', '.join(map(str, model.classes_.tolist()))}"
    yield "loss", loss_name(model)
    if hasattr(booster, "n_rows_seen_"):
        yield "rows", f"{booster.n_rows_seen_:,}"
        copies = getattr(booster, "n_copies_", 0)
        if copies > MANY_COPIES * booster.n_rows_seen_:
            yield "copies", f"{copies:,} rows equal an earlier one"
    yield "rounds", f"{len(booster.ensemble_):,}"
    names, weights = getattr(booster, "member_names_", ()), getattr(booster, "learner_weights_", ())
    for name, weight, rounds in zip_longest(names, weights, booster._n_rounds if len(names) else ()):
        yield f"  {name}", f"weight {np.round(weight, 3)}, rounds {', '.join(map(str, rounds or ()))}"
    yield "features", columns_text(model)
    for name, levels in feature_kinds(model).items():
        yield f"  {name}", "numbers" if levels is None else f"{len(levels)} categories: {abridged(levels)}"
