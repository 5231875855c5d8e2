"""Links of models that XGBoost or LightGBM trained with objectives of their own."""

from __future__ import annotations

from rffboost_ext import Link
from rffboost_ext.interop.links import RankingLink
from rffboost_ext.losses import BinaryLogitLink, IdentityLink, LogitLink, MultinomialLogitLink

BY_LABEL = ("multi:softmax",)
"""Objectives with which a regressor of XGBoost predicts labels."""


def prediction_links(objectives: dict[str, Link]) -> dict[str, Link]:
    """The link of each objective; a ranking model predicts its raw scores."""
    return {n: IdentityLink() if isinstance(link, RankingLink) else link for n, link in objectives.items()}


def n_classes_of(link: Link, n_outputs: int) -> int | None:
    """The number of classes whose probabilities are the response; None for means."""
    return {BinaryLogitLink: 2, MultinomialLogitLink: n_outputs}.get(type(link))


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
    of_classes = isinstance(link, BinaryLogitLink | MultinomialLogitLink)
    if (is_classifier and not of_classes) or (not is_classifier and objective in BY_LABEL):
        raise ValueError(
            f"objective {objective!r} of a {owner} has no ONNX form here: it is for a "
            f"{'regressor' if is_classifier else 'classifier'}; fit one of those, or export the Booster"
        )
    return link
