"""The parameters of XGBoost, LightGBM, CatBoost and scikit-learn: what to write instead.

The table is that of ``docs/migration.md``. It also explains unknown parameters of the estimators' constructors.
"""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any, NamedTuple


class Row(NamedTuple):
    """A parameter here, its names elsewhere, separated by blanks, and what differs here."""

    here: str
    elsewhere: str
    note: str = ""


# fmt: off
TABLE = {
    "Parameters of the estimators": [
        Row("n_estimators=...", "num_boost_round num_iterations num_iteration num_rounds num_round num_trees "
            "nrounds n_iter max_iter iterations", "a maximum, 2,000 with early stopping, which is on by default"),
        Row("learning_rate=...", "eta shrinkage_rate", "depends on the size of the table by default"),
        Row("loss=...", "objective objective_type application loss_function", "see the objectives below"),
        Row("loss=Quantile(...)", "quantile_alpha alpha quantile", "of several levels `loss=Quantiles(...)`"),
        Row("loss=Tweedie(...)", "tweedie_variance_power"),
        Row("loss=Huber(...)", "huber_slope"),
        Row("eval_metric=...", "metric metrics custom_metric custom_loss feval scoring", "see the metrics below"),
        Row("n_iter_no_change=...", "early_stopping_rounds early_stopping_round od_wait", "40 by default"),
        Row("tol=...", "early_stopping_min_delta od_pval", "a share of the decrease so far"),
        Row("validation_fraction=...", "eval_fraction", "only if a single model holds out rows"),
        Row("class_weight={1: ...}", "scale_pos_weight", "by the label of the positive class"),
        Row("class_weight={...}", "class_weights", "by class label"),
        Row('class_weight="balanced"', "is_unbalance unbalance unbalanced_sets auto_class_weights"),
        Row("categorical_features=...", "categorical_feature cat_feature categorical_column cat_features "
            "enable_categorical feature_types", "by default the columns of a categorical type"),
        Row("monotone_constraints=...", "monotonic_cst",
            "by position or by name; other members than trees are left out"),
        Row("missing=...", "use_missing nan_mode", "NaN is always a missing value"),
        Row('learner="tree"', "booster boosting_type boosting", "neither DART nor linear boosters"),
        Row("random_state=...", "seed random_seed bagging_seed feature_fraction_seed data_random_seed"),
        Row("n_jobs=...", "nthread num_threads num_thread nthreads thread_count", "all cores by default, as -1"),
        Row("verbose=...", "verbosity verbose_eval metric_freq metric_period silent logging_level",
            "k > 1 prints every k rounds"),
    ],
    "Parameters of fit": [
        Row("fit(X, y, eval_set=...)", "evals valid_sets X_val y_val", "early stopping uses the last set"),
        Row("fit(X, y, eval_set=[(X_valid, y_valid, weight)])", "sample_weight_eval_set eval_sample_weight "
            "sample_weight_val"),
        Row('fit(X, y, eval_set={"name": (X_valid, y_valid)})', "eval_names valid_names"),
        Row("fit(X, y, init_model=...)", "xgb_model input_model model_in base_score",
            "also a model of XGBoost or LightGBM"),
        Row("fit(X, y, base_margin=...)", "init_score baseline", "predictions of the model then need one, too"),
        Row("fit(X, y, base_margin_eval_set=...)", "eval_init_score"),
    ],
    "Parameters of trees": [
        Row("Tree(max_depth=...)", "max_depth depth", "0 for no limit"),
        Row("Tree(max_leaves=...)", "max_leaves num_leaves max_leaf_nodes",
            '0 for no limit; LightGBM\'s trees have `grow_policy="lossguide"`'),
        Row("Tree(max_bin=...)", "max_bin max_bins border_count"),
        Row("Tree(min_child_weight=...)", "min_child_weight min_sum_hessian_in_leaf min_child_samples "
            "min_data_in_leaf min_samples_leaf min_samples_split min_weight_fraction_leaf",
            "a sum of hessians instead of a number of rows"),
        Row("Tree(min_split_loss=...)", "gamma min_split_loss min_split_gain min_gain_to_split "
            "min_impurity_decrease ccp_alpha", "`gamma` is the kernel parameter here"),
        Row("Tree(reg_lambda=...)", "reg_lambda lambda lambda_l2 l2_leaf_reg l2_regularization"),
        Row("Tree(reg_alpha=...)", "reg_alpha alpha lambda_l1"),
        Row("Tree(max_delta_step=...)", "max_delta_step max_tree_output"),
        Row("Tree(subsample=...)", "subsample bagging_fraction"),
        Row("Tree(colsample_bytree=...)", "colsample_bytree feature_fraction"),
        Row("Tree(colsample_bylevel=...)", "colsample_bylevel rsm"),
        Row("Tree(colsample_bynode=...)", "colsample_bynode feature_fraction_bynode max_features",
            "a share of the columns"),
        Row("Tree(grow_policy=...)", "grow_policy"),
        Row("Tree(interaction_constraints=...)", "interaction_constraints interaction_cst"),
    ],
}
# fmt: on


def advice(name: str, known: Sequence[Any]) -> str:
    """What to write instead of a parameter, such as ``learner__max_depth``, by the table or by similarity."""
    part, _, inner = name.rpartition("__")
    every = [row for rows in TABLE.values() for row in rows]
    if part:
        example = next((f", such as {part}={row.here}" for row in every if f"({inner}=" in row.here), "")
        return f" (set it by set_params, if {part} has it, or in an instance given as {part}{example})"
    rows = [row.here for row in every if name in row.elsewhere.split()]
    found = [f"learner={here}" if here.startswith("Tree") else here for here in rows]
    found = found or [f"{one}=..." for one in difflib.get_close_matches(name, known, n=3, cutoff=0.6)]
    return f" (use {' or '.join(found)})" if found else f" (the parameters are {', '.join(known)})"
