"""The report of a comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..records import Record, as_frame
from ..report import report
from ..summary import Summary
from .protocol import Protocol
from .systems import SYSTEMS

REPORTED = {"accuracy": "higher", "fit_seconds": "time", "predict_seconds": "time"}


def mean_accuracy(records: Sequence[Record]) -> Any:
    """Mean test accuracy over splits: a pandas data frame, a row per data set, a column per system."""
    return Summary(as_frame(records), "accuracy").mean


def comparison_report(records: Sequence[Record], protocol: Protocol) -> str:
    """Accuracy in percent and times, as Markdown, and what the systems share."""
    frame = as_frame(records)
    shown = report(frame.assign(accuracy=100 * frame["accuracy"]), REPORTED)
    return f"{shown}\n{caption(frame['system'].unique(), protocol)}"


def caption(systems: Sequence[str], protocol: Protocol) -> str:
    """The values, the shared settings, and the differences between the systems."""
    tuned = ", hyperparameters by 5-fold search on the training part" if protocol.tune else ""
    lines = [
        f"Test accuracy in percent, mean ± standard error over stratified splits ({protocol.splits} of each data "
        f"set), {100 * protocol.test_size:g} % test.",
        f"The same for all: splits, features standardised on the training part, {protocol.rounds} rounds, "
        f"one thread{tuned}.",
        "What differed:",
        *(f"  {name}: {difference(name, protocol)}" for name in systems),
    ]
    if protocol.tune:
        lines.append("Seconds of the final fit, without the search.")
    return "\n".join(lines)


def difference(name: str, protocol: Protocol) -> str:
    """The settings that are specific to a system."""
    system = SYSTEMS[name]
    searched = protocol.tune and any("learning_rate" in part for part in protocol.grid(system, 1))
    shrinkage = "shrinkage tuned" if searched else f"shrinkage {protocol.rate(system):g}"
    size = "" if protocol.tune else system.size
    return ", ".join(filter(None, (system.note, size, shrinkage)))
