"""Links of models that XGBoost or LightGBM trained with objectives of their own, and their categories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from rffboost_ext import Link
from rffboost_ext.exporting import Array, CategoryEncoding, HingeLink, OneVsRestLink, RankingLink
from rffboost_ext.losses import BinaryLogitLink, IdentityLink, LogitLink, MultinomialLogitLink

from .sparse_steps import dense

BY_LABEL = ("multi:softmax", "binary:hinge")
"""Objectives with which a regressor of XGBoost predicts labels."""


def prediction_links(objectives: dict[str, Link]) -> dict[str, Link]:
    """The link of each objective; a ranking model predicts its raw scores."""
    return {n: IdentityLink() if isinstance(link, RankingLink) else link for n, link in objectives.items()}


def n_classes_of(link: Link, n_outputs: int) -> int | None:
    """The number of classes whose probabilities are the response; None for means."""
    if isinstance(link, BinaryLogitLink | HingeLink):
        return 2
    return n_outputs if isinstance(link, MultinomialLogitLink | OneVsRestLink) else None


def estimator_link(link: Link, is_classifier: bool, objective: str, owner: str) -> Link:
    """The link with which an estimator of another library predicts: its class matters more than its objective.

    Parameters
    ----------
    link : Link
        That of the objective.
    is_classifier : bool
        Whether the estimator is a classifier.
    objective, owner : str
        For the message.

    Raises
    ------
    ValueError
        If there is none: a classifier of means, which compares them with a half, or a regressor of labels.
    """
    if is_classifier and isinstance(link, LogitLink):
        return BinaryLogitLink(link.slope)
    if not is_classifier and isinstance(link, BinaryLogitLink):
        return IdentityLink() if objective == "binary:logitraw" else LogitLink(link.slope)
    of_classes = n_classes_of(link, 1) is not None
    if is_classifier != of_classes and (is_classifier or objective in BY_LABEL):
        raise ValueError(
            f"objective {objective!r} of a {owner} has no ONNX form here: it is for a "
            f"{'regressor' if is_classifier else 'classifier'}; fit one of those, or export the Booster"
        )
    return link


def host_codes(X: Any, known: Sequence[Array | None], encoding: CategoryEncoding | None) -> Array:
    """X as numbers, with a host's codes in place of categories: their order in `known`."""
    if encoding is None:
        return dense(X)
    codes = encoding.transform(X)[0]
    for j, categories in enumerate(known):
        if categories is None:
            continue
        # Our codes follow the sorted categories.
        order, found = np.argsort(categories), np.isfinite(codes[:, j])
        codes[found, j] = order[codes[found, j].astype(int)]
    return codes
