"""Initial scores of LightGBM: an earlier model."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import lightgbm
import numpy as np

from ..core import Link
from ..losses.links import BinaryLogitLink
from .estimator_mixin import HostEstimatorMixin
from .initial_scores import PreviousModel
from .lightgbm_model import TextModel, parse_model
from .links import LIGHTGBM, OneVsRestLink, SignedSquareLink, link_of
from .score_conversion import link_of_host_scores, slope_of


def previous_lightgbm_model(model: Any) -> PreviousModel:
    """The `init_model` of a fit, a LightGBM model or the path of its file."""
    if isinstance(model, HostEstimatorMixin):
        start = slope_of(model.loss_) * model.baseline_
        return PreviousModel("init_model", start, link_of_host_scores(model.loss_))
    if isinstance(model, str | os.PathLike):
        booster = lightgbm.Booster(model_file=model)
    else:
        booster = model.booster_ if isinstance(model, lightgbm.LGBMModel) else model
    if not isinstance(booster, lightgbm.Booster):
        raise TypeError(f"init_model must be a model of LightGBM or the path of its file, got {model!r}")
    text = parse_model(booster.model_to_string(num_iteration=1))
    start = np.zeros(booster.num_model_per_iteration())
    return PreviousModel("init_model", start, None if text.objective == "custom" else recorded_link(text))


def recorded_link(text: TextModel) -> Link:
    """The link of the objective that a LightGBM model records."""
    if text.squares:
        return SignedSquareLink()
    link = link_of(LIGHTGBM, text.objective, "LightGBM")
    return replace(link, slope=text.slope) if isinstance(link, BinaryLogitLink | OneVsRestLink) else link
