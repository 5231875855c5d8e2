"""Risks, and survival functions at given times."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial, singledispatch
from typing import Any

import numpy as np
from numpy.polynomial import chebyshev
from scipy.special import erfcx

from rffboost_ext import Link, RFFBoostSurvival
from rffboost_ext.exporting import Array, BaseRFFBoost
from rffboost_ext.losses import AFTExtreme, AFTLogistic, AFTLoss, AFTNormal, SurvivalLoss

from .graph import FLOAT32, ConversionError, Graph
from .links import convert_link
from .model import SURVIVAL
from .source import ExportSource, ExtraOutput, export_source

LARGEST = 30.0
"""The complementary error function is 0 beyond."""
CENTER, DEGREE = 3.0, 20
"""Of the polynomial in ``(CENTER - x) / (CENTER + x)`` that is ``erfcx(x) (CENTER + x)``: its error is 1e-14."""


@export_source.register
def _(model: RFFBoostSurvival) -> ExportSource:
    source = export_source.dispatch(BaseRFFBoost)(model)
    link = model.loss_.risk_link
    others = (extra for extra in source.extras if extra.name != "risk")
    extras = ExtraOutput("risk", link, link.inverse, 1), *others
    survival = partial(survival_output, model)
    return replace(source, link=link, response=link.inverse, extras=extras, survival=survival)


def check_times(times: Any) -> Array:
    """Times (T,) as float64, or a ValueError."""
    try:
        grid = np.array(times, dtype=np.float64)
    except (TypeError, ValueError):
        grid = np.empty(0)
    if grid.ndim != 1 or not grid.size or not ((grid >= 0.0) & (grid < np.inf)).all():
        raise ValueError(f"to_onnx: times must be finite and non-negative numbers, (T,), got {times!r:.100}")
    return grid


def survival_output(model: RFFBoostSurvival, times: Array) -> ExtraOutput:
    """The output with the survival function at times (T,), (n, T)."""
    hazard, last = times, model.unique_times_[-1]
    if not model.loss_.is_smooth:
        if times.max() > last:
            raise ValueError(
                f"to_onnx: times must be at most {last:g}, the last one of the fit, for loss {model.loss_!r}, got "
                f"{times.max():g}"
            )
        hazard = np.atleast_1d(model.cum_baseline_hazard_(times))
    link = SurvivalLink(model.loss_, times, hazard)
    return ExtraOutput(SURVIVAL, link, link.inverse, len(times))


@dataclass(frozen=True, eq=False)
class SurvivalLink(Link):
    """The probabilities that the event comes later than times (T,), (n, T).

    `hazard`, (T,), is the cumulative hazard of a score of 0 at these times, if the loss needs it.
    """

    loss: SurvivalLoss
    times: Array
    hazard: Array

    def inverse(self, raw: Array) -> Array:
        return np.exp(-self.loss.cumulative_hazard(raw, self.times, self.hazard))


@convert_link.register
def _(link: SurvivalLink, graph: Graph, raw: str) -> str:
    return convert_survival(link.loss, link, graph, raw)


@singledispatch
def convert_survival(loss: SurvivalLoss, link: SurvivalLink, graph: Graph, raw: str) -> str:
    """Append nodes that compute the survival function at the times of a link, and return their output's name.

    The extension point for losses whose hazards are not proportional: use ``@convert_survival.register`` on a
    function whose first argument is annotated with the type of loss. Every export checks that the nodes agree with
    ``loss.cumulative_hazard``.

    Parameters
    ----------
    loss : SurvivalLoss
    link : SurvivalLink
        It has ``times`` and ``hazard``, (T,).
    graph : Graph
        Graph to append to.
    raw : str
        Name of the raw scores, (n, 1).

    Returns
    -------
    str
        Name of the probabilities, (n, T).
    """
    if loss.is_smooth:
        name = type(loss).__name__
        raise ConversionError(
            f"survival functions of the loss {name} have no ONNX form; register one with "
            f"onnx_export.survival.convert_survival.register({name})"
        )
    return exp_of_minus_exp(graph, graph.node("Add", raw, log_constant(graph, link.hazard, "log_hazard")))


@convert_survival.register
def _(loss: AFTLogistic, link: SurvivalLink, graph: Graph, raw: str) -> str:
    return graph.node("Sigmoid", graph.node("Neg", quantiles(loss, link, graph, raw)))


@convert_survival.register
def _(loss: AFTExtreme, link: SurvivalLink, graph: Graph, raw: str) -> str:
    return exp_of_minus_exp(graph, quantiles(loss, link, graph, raw))


@convert_survival.register
def _(loss: AFTNormal, link: SurvivalLink, graph: Graph, raw: str) -> str:
    z = graph.node("Mul", quantiles(loss, link, graph, raw), graph.constant(np.sqrt(0.5), "root"))
    one, half = graph.constant(1.0, "one"), graph.constant(0.5, "half")
    if graph.dtype == FLOAT32:
        return graph.node("Mul", graph.node("Sub", one, graph.node("Erf", z)), half)
    # ONNX Runtime's Erf is of single precision.
    size, center = graph.node("Abs", z), graph.constant(CENTER, "center")
    size = graph.node("Min", size, graph.constant(LARGEST, "largest"))
    shifted = graph.node("Add", center, size)
    t = graph.node("Div", graph.node("Sub", center, size), shifted)
    t = graph.node("Reshape", t, graph.constant([-1, 1], "column"))
    powers = graph.node("Pow", t, graph.constant(np.arange(DEGREE + 1.0), "exponents"))
    scaled = graph.node("MatMul", powers, graph.constant(scaled_tail()[:, None], "coefficients"))
    scaled = graph.node("Reshape", scaled, graph.constant([-1, len(link.times)], "by_time"))
    tail = graph.node("Exp", graph.node("Neg", graph.node("Mul", size, size)))
    tail = graph.node("Mul", graph.node("Div", graph.node("Mul", scaled, tail), shifted), half)
    negative = graph.node("Less", z, graph.constant(0.0, "zero"))
    return graph.node("Where", negative, graph.node("Sub", one, tail), tail)


def scaled_tail() -> Array:
    """The coefficients of the polynomial for ``erfcx``, the constant first."""

    def function(t: Array) -> Any:
        x = CENTER * (1.0 - t) / (1.0 + t)
        return erfcx(x) * (CENTER + x)

    return np.asarray(chebyshev.cheb2poly(chebyshev.chebinterpolate(function, DEGREE)))


def quantiles(loss: AFTLoss, link: SurvivalLink, graph: Graph, raw: str) -> str:
    """``(log(time) - raw) / sigma`` for each of the times, (n, T)."""
    distance = graph.node("Sub", log_constant(graph, link.times, "log_times"), raw)
    return graph.node("Div", distance, graph.constant(loss.scale, "sigma"))


def log_constant(graph: Graph, values: Array, name: str) -> str:
    """The logs of numbers (T,) as a constant, (1, T); that of 0 is infinite."""
    with np.errstate(divide="ignore"):
        return graph.constant(np.log(values)[None], name)


def exp_of_minus_exp(graph: Graph, x: str) -> str:
    """``exp(-exp(x))``."""
    return graph.node("Exp", graph.node("Neg", graph.node("Exp", x)))
