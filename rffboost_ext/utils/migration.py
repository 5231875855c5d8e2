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


WITHOUT = "Names without a counterpart"
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
    "Objectives": [
        Row("log_loss", "binary:logistic multi:softprob multi:softmax binary multiclass Logloss MultiClass "
            "MultiLogloss binary_crossentropy cross_entropy logistic", "of classes, and of labels (n, K)"),
        Row("squared_error", "reg:squarederror regression regression_l2 RMSE rmse mse l2 mean_squared_error ls"),
        Row("absolute_error", "reg:absoluteerror regression_l1 MAE mae l1 mean_absolute_error lad"),
        Row("huber", "reg:pseudohubererror Huber"),
        Row("quantile", "reg:quantileerror Quantile pinball", "of several levels `quantiles`"),
        Row("poisson", "count:poisson Poisson"),
        Row("gamma", "reg:gamma"),
        Row("tweedie", "reg:tweedie Tweedie"),
        Row("exponential", "adaboost"),
        Row("cox", "survival:cox Cox coxph", "y holds events and times"),
        Row("aft_normal", "survival:aft SurvivalAft", "also `aft_logistic` and `aft_extreme`"),
        Row("aft_extreme", "weibull", "accelerated failure times of a Weibull distribution"),
        Row("lambdarank", "rank:ndcg rank:map rank_xendcg YetiRank", "no loss is for the mean average precision"),
        Row("pairwise", "rank:pairwise PairLogit"),
        Row("normal", "RMSEWithUncertainty gaussian"),
    ],
    "Metrics": [
        Row("log_loss", "logloss mlogloss binary_logloss multi_logloss Logloss MultiClass binary_crossentropy"),
        Row("accuracy", "error merror binary_error multi_error Accuracy", "1 less the error"),
        Row("roc_auc", "auc AUC"),
        Row("average_precision", "aucpr PRAUC"),
        Row("neg_root_mean_squared_error", "rmse RMSE", "negative; `squared_error` is half the mean square"),
        Row("neg_mean_squared_error", "mse l2 mean_squared_error", "negative"),
        Row("neg_mean_absolute_error", "mae l1 MAE mean_absolute_error", "negative; `absolute_error` is not"),
        Row("neg_mean_absolute_percentage_error", "mape MAPE", "negative"),
        Row("r2", "R2"),
    ],
    "Parameters of predict": [
        Row("raw_scores(X)", "output_margin raw_score predict_raw_score predict_rawscore is_predict_raw_score "
            "prediction_type", "of classifiers also `decision_function(X)`"),
        Row("staged_predict(X)", "iteration_range ntree_limit num_iteration start_iteration "
            "num_iteration_predict start_iteration_predict ntree_start ntree_end",
            "early stopping has removed the rounds after the best"),
        Row("shap_values(X, background)", "pred_contribs pred_interactions approx_contribs pred_contrib "
            "predict_contrib is_predict_contrib contrib", "exact, against background rows, by default of the fit"),
        Row("ensemble_.outputs(X)", "pred_leaf predict_leaf_index is_predict_leaf_index leaf_index",
            "the learned features: cosines, and outputs of trees"),
    ],
    WITHOUT: [
        Row("", "tree_method bootstrap_type data_sample_strategy", "trees are grown by XGBoost's method `hist`"),
        Row("", "device task_type device_type gpu_id num_machines predictor",
            "CPU only, of one machine; `n_jobs` is the number of threads"),
        Row("", "max_cat_to_onehot cat_smooth one_hot_max_size",
            "trees split on sets of categories, and cosines get indicators"),
        Row("", "path_smooth random_strength feature_weights", "there are no further penalties and no noise"),
        Row("", "rate_drop skip_drop", "there is no DART"),
        Row("", "num_class class_names", "the classes are those of y"),
        Row("", "importance_type", "`feature_importances_` are shares of the explained variance"),
        Row("", "group qid", "`qid` and `eval_qid` are parameters of `RFFBoostRanker.fit`"),
        Row("", "lambdarank_truncation_level", "`LambdaRank(k=10)` counts the first ten ranks, as `ndcg@10` does"),
        Row("", "aft_loss_distribution", "the distribution is that of a loss, such as `aft_normal`"),
        Row("", "text_features embedding_features", "make numbers of them before the fit"),
        Row("", "feature_name column_description", "the names of columns are those of the table"),
        Row("", "data label_column output_model",
            "`rffboost fit FILES --target COLUMN --out FILE`, or sources in Python"),
    ],
}
# fmt: on


def translated(section: str, name: str) -> list[str]:
    """What the names of a section of the table are here, such as losses, whatever the case of letters."""
    name = name.partition(":alpha")[0].partition(":delta")[0].partition(":variance")[0].lower()
    return [row.here for row in TABLE[section] if name in row.elsewhere.lower().split()]


def advice(name: str, parameters: Sequence[Any], owner: str = "", method: str = "") -> str:
    """What to write instead of a parameter, such as ``learner__max_depth``, by the table or by similarity.

    Parameters
    ----------
    name : str
    parameters : sequence of str
        The parameters that there are.
    owner, method : str, optional
        The estimator and its method, if the parameter is one of a method.
    """
    part, _, inner = name.rpartition("__")
    sections = [TABLE["Parameters of predict"]] * (method != "fit") + [
        rows for title, rows in TABLE.items() if title.startswith("Parameters of") or title == WITHOUT
    ]
    every = [row for rows in sections for row in rows]
    if part:
        example = next((f", such as {part}={row.here}" for row in every if f"({inner}=" in row.here), "")
        return f" ({part} must be a part that has it{example})"
    rows = [row for row in every if name in row.elsewhere.split()]
    if rows and not rows[0].here:
        return f" (there is none: {rows[0].note})"
    if method and rows and rows[0] in TABLE["Parameters of predict"]:
        rows = rows[:1]
    hints = [f"learner={row.here}" if row.here.startswith("Tree") else row.here for row in rows]
    if method and rows and rows[0] in TABLE["Parameters of the estimators"]:
        hints = [f"{owner}({one})" for one in hints]
    if len(rows) == 1 and rows[0].note and "..." not in rows[0].here:
        hints = [f"{hints[0]}: {rows[0].note}"]
    hints = hints or [f"{one}=..." for one in difflib.get_close_matches(name, parameters, n=3, cutoff=0.6)]
    return f" (use {' or '.join(hints)})" if hints else f" (the parameters are {', '.join(parameters)})"
