"""XGBoost's own objectives: their parameters, and the one that a booster records."""

from __future__ import annotations

from typing import Any

from xgboost.callback import TrainingCallback

OBJECTIVE_PARAMS = {
    "quantile_alpha": ("quantile",),
    "huber_slope": ("delta",),
    "tweedie_variance_power": ("power",),
    **dict.fromkeys(("expectile_alpha", "aft_loss_distribution", "aft_loss_distribution_scale"), ()),
    **dict.fromkeys(("lambdarank_pair_method", "lambdarank_num_pair_per_sample", "lambdarank_bias_norm"), ()),
    **dict.fromkeys(("lambdarank_normalization", "lambdarank_score_normalization", "lambdarank_unbiased"), ()),
    "ndcg_exp_gain": (),
}
"""Parameters of XGBoost's objectives, and the names of equivalent parameters of our losses.

``max_delta_step`` is missing because trees read it too.
"""

NATIVE = {"poisson": "count:poisson", "gamma": "reg:gamma", "tweedie": "reg:tweedie"}
"""Objectives of XGBoost that equal losses, by the names of these."""


class SetObjective(TrainingCallback):
    """Sets the objective of a booster that is trained with a callable; its link applies to ``base_score``.

    Parameters
    ----------
    params : dict
        The objective and its parameters.
    """

    def __init__(self, params: dict[str, Any]) -> None:
        self.params = params

    def before_training(self, model: Any) -> Any:
        """Set the objective and return the booster."""
        model.set_param(self.params)
        return model
