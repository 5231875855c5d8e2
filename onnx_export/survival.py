"""Survival analysis: the output of a file is the risk that the estimator predicts."""

from __future__ import annotations

from dataclasses import replace

from rffboost_ext import RFFBoostSurvival
from rffboost_ext.estimators.base import BaseRFFBoost

from .source import ExportSource, ExtraOutput, export_source


@export_source.register
def _(model: RFFBoostSurvival) -> ExportSource:
    source = export_source.dispatch(BaseRFFBoost)(model)
    link = model.loss_.risk_link
    others = tuple(extra for extra in source.extras if extra.name != "risk")
    risk = ExtraOutput("risk", link, link.inverse, 1)
    return replace(source, link=link, response=link.inverse, extras=(risk, *others))
