"""The adapter of LightGBM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from lightgbm import Booster, Dataset, LGBMModel

from ..core import Link, Loss, Term
from ..losses.links import BinaryLogitLink, OneVsRestLink, SignedSquareLink
from ..terms.ensemble import Ensemble
from ..utils.typing import Array
from .cosine_training import assign_trees
from .host import Host, HostModel
from .lightgbm_model import parse_text_model, rounds_of_text_model, text_model_categories
from .links import LIGHTGBM


class LightGBMHost(Host):
    """LightGBM: ``Dataset``, ``Booster`` and ``LGBMModel``."""

    name, slicing, metric_direction = "LightGBM", "subset", (False,)
    unset_score, stores_start = 0.0, False
    estimator, booster = LGBMModel, Booster
    score_argument, continued = "raw_score", "init_model"
    # Its alias "loss" of the objective is our own parameter.
    replaced_params = (
        *("objective", "objective_type", "app", "application", "alpha", "tweedie_variance_power", "fair_c"),
        *("scale_pos_weight", "is_unbalance", "unbalance", "unbalanced_sets", "reg_sqrt", "sigmoid"),
        *("pos_bagging_fraction", "pos_subsample", "neg_bagging_fraction", "neg_subsample", "label_gain"),
        *("lambdarank_truncation_level", "lambdarank_norm", "poisson_max_delta_step"),
        "lambdarank_position_bias_regularization",
    )
    monotone_params = ("monotone_constraints", "mc", "monotone_constraint", "monotonic_cst")
    ranking_metrics = ("auc", "average_precision")
    features_advice = (
        "the Dataset does not return its features as numbers: construct it from an array with "
        "free_raw_data=False, or pass them by attach(data, X) before training"
    )

    def labels(self, matrix: Dataset) -> Array | None:
        return matrix.get_label()

    def weights(self, matrix: Dataset) -> Array | None:
        # get_weight() fails before the data are binned, which train() does with its parameters.
        return matrix.weight if is_unbinned(matrix) else matrix.get_weight()

    def queries(self, matrix: Dataset) -> Array | None:
        whole = self.whole(matrix)
        if whole is not None:
            codes = self.queries(whole)
            return None if codes is None else codes[matrix.used_indices]
        sizes = matrix.group if is_unbinned(matrix) else matrix.get_group()
        if sizes is None or not len(sizes):
            return None
        return np.repeat(np.arange(len(sizes)), np.asarray(sizes, dtype=np.int64))

    def whole(self, matrix: Dataset) -> Dataset | None:
        return None if matrix.used_indices is None else matrix.reference

    def features(self, matrix: Dataset) -> Array | None:
        returned = not (is_unbinned(matrix) or matrix.free_raw_data)
        data = matrix.get_data() if returned else matrix.data
        # The data are unknown if they come from files or were freed.
        numbers = np.asarray(data.toarray() if hasattr(data, "toarray") else data)
        # A table with non-numeric columns has dtype object.
        return numbers if numbers.ndim == 2 and numbers.dtype.kind in "biuf" else None

    def start(self, loss: Loss, baseline: Array, matrices: Sequence[Dataset]) -> Array:
        for data in matrices:
            init_score = baseline if data.init_score is None else np.asarray(data.init_score)
            # LightGBM also takes the scores of one output after those of another.
            if np.ptp(init_score.reshape(-1, len(baseline), order="F"), axis=0).any():
                raise ValueError("intercept: init_score of the data must be unset or constant, it differs by row")
        for data in matrices:
            rows = np.tile(baseline, (len(data.get_label()), 1))
            data.set_init_score(rows[:, 0] if len(baseline) == 1 else rows)
        return baseline

    def read(self, model: Any) -> HostModel:
        booster = self.booster_of(model)
        width = booster.num_model_per_iteration()
        text = parse_text_model(booster.model_to_string())
        terms = tuple(rounds_of_text_model(text))
        ensemble = Ensemble(np.zeros(width), terms, np.ones((len(terms), 2)))
        names, objective = booster.feature_name(), text.header.get("objective", "custom")
        is_named = any(name not in (f"Column_{j}", str(j)) for j, name in enumerate(names))
        return HostModel(
            booster=booster,
            ensemble=ensemble,
            objective=objective,
            link=recorded_link(objective),
            n_features=booster.num_feature(),
            names=np.array(names, dtype=object) if is_named else None,
            read_categories=partial(text_model_categories, text, booster.pandas_categorical or []),
            has_exact_names=not any("_" in name for name in names),
            classes=getattr(model, "classes_", None),
            averages="average_output" in text.header,
        )

    def rounds(self, booster: Booster, changed: Sequence[bool]) -> list[Term | None]:
        trees = rounds_of_text_model(parse_text_model(booster.model_to_string()))
        best = booster.best_iteration if booster.best_iteration > 0 else None
        return assign_trees(trees, changed, best)


HOST = LightGBMHost()


def recorded_link(objective: str) -> Link | None:
    """The link of the objective that a model records, such as "binary sigmoid:2"; None if it was a callable."""
    name, *options = objective.split()
    if "sqrt" in options:
        return SignedSquareLink()
    slope = next((float(word.partition(":")[2]) for word in options if word.startswith("sigmoid:")), 1.0)
    link = LIGHTGBM.get(name)
    return replace(link, slope=slope) if isinstance(link, BinaryLogitLink | OneVsRestLink) else link


def is_unbinned(data: Dataset) -> bool:
    """Whether a Dataset is not constructed yet."""
    return data._handle is None
