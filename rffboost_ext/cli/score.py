"""The command ``rffboost score``: the score and the loss of a model on files."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from typer import Option

from ..boosting.early_stopping.monitor import MeanLoss
from ..contracts.fit import require_accepted_target
from ..core import Observations
from ..core.loss import COUPLED
from ..estimators.ranker import RFFBoostRanker, ranking_target
from ..estimators.survival import RFFBoostSurvival
from ..persistence.model_file import describe_model
from ..rows.weights import rows_of_positive_weight
from ..sources.prediction import score_and_loss
from ..sources.tables import Tables
from .files import Files, Fitted, Reader, Weight, load_fitted, reads_files, rows_for, split_names
from .model_text import booster_of, rows_text, scores_text

Target = Annotated[
    str | None,
    Option(metavar="NAMES", help="The column of targets or labels, or several.", show_default="that of the fit"),
]
Group = Annotated[str | None, Option(metavar="COLUMN", help="The column of queries of a ranker.")]
Event = Annotated[str | None, Option(metavar="COLUMN", help="Whether there was an event, of a survival model.")]
Time = Annotated[str | None, Option(metavar="COLUMN", help="The time of the event or of censoring.")]


@reads_files
def score_command(
    model: Fitted,
    files: Files,
    target: Target = None,
    weight: Weight = None,
    group: Group = None,
    event: Event = None,
    time: Time = None,
    *,
    read: Reader,
) -> None:
    """Print the score and the mean loss of a model on the rows of files that need not fit in memory."""
    fitted = load_fitted(model)
    targets = target_columns(fitted, model, target, event, time)
    if isinstance(fitted, RFFBoostRanker) != (group is not None):
        raise ValueError(
            f"--group must name the queries of a ranker, and is for no other model, got {group!r} for a "
            f"{type(fitted).__name__}"
        )
    has_texts = any(isinstance(label, str) for label in getattr(fitted, "classes_", ()))
    rows = rows_for(
        fitted,
        partial(read, files, weight=weight, group=group, **targets),
        texts=np.atleast_1d(targets["target"])[:1].tolist() if has_texts else (),
    )
    typer.echo(score_text(fitted, rows))


def score_text(fitted: Any, rows: Tables) -> str:
    """The score and the mean loss of a model on rows, and how many these are: some scores are of a sample."""
    booster = booster_of(fitted)
    scores = score_and_loss(fitted, rows, partial(booster_loss, booster), booster.loss_.rows in COUPLED)
    n_rows = rows_text(scores.n_rows, rows.n_rows or scores.n_rows)
    return f"{scores_text(fitted, scores.score, scores.loss)} of {n_rows}"


def target_columns(
    fitted: Any, path: Path, target: str | None, event: str | None, time: str | None
) -> dict[str, Any]:
    """The columns of the target: the options of the command, or else those of the fit."""
    if event is not None or time is not None:
        if not isinstance(fitted, RFFBoostSurvival):
            raise ValueError(f"--event and --time must be for a survival model, got a {type(fitted).__name__}")
        return {"event": event, "time": time, "target": target}
    names = split_names(target or describe_model(path).metadata.get("target"))
    if not names:
        options = "--event and --time, or --target," if isinstance(fitted, RFFBoostSurvival) else "--target"
        raise ValueError(f"{options} must be given, since {str(path)!r} does not name the target of its fit")
    return {"target": names if len(names) > 1 else names[0]}


def booster_loss(booster: Any, X: Any, y: Any, weight: Any, groups: Any) -> float:
    """The weighted mean of the loss of a model that we have fitted, of rows as ``score`` takes them."""
    owner, loss = type(booster).__name__, booster.loss_
    if isinstance(booster, RFFBoostRanker):
        y = ranking_target(owner, X, y, groups, "--group")
    targets, _ = booster._read_target(y)
    targets.classes = getattr(booster, "classes_", None)
    X, y, weight = rows_of_positive_weight(X, targets.columns(y), weight)
    rows, raw = Observations(targets.transform(y), weight), booster.raw_scores(X)
    if (loss.task == "regression" or loss.multilabel) and loss.n_scores(rows.y) != raw.shape[1]:
        raise ValueError(
            f"--target must name the columns of the fit, whose model has {raw.shape[1]} scores: got "
            f"{rows.y.shape[1]}, for which loss {loss!r} needs {loss.n_scores(rows.y)}"
        )
    require_accepted_target(loss, rows.y)
    return MeanLoss(loss)(rows, raw)
