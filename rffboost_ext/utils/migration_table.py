"""The names of XGBoost, LightGBM, CatBoost and scikit-learn, and what they are here.

The one table behind the hints of error messages (:mod:`rffboost_ext.utils.migration_hints`) and the tables of
``docs/migration.md``, which the tests compare with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from functools import partial

LIBRARIES = {"xgboost": "XGBoost", "lightgbm": "LightGBM", "catboost": "CatBoost", "sklearn": "scikit-learn"}


class Place(Enum):
    """Where a name belongs; the value is the title of its table in the documentation."""

    ESTIMATOR = "Parameters of the estimators"
    FIT = "Parameters of fit"
    TREES = "Parameters of trees"
    OBJECTIVES = "Objectives"
    METRICS = "Metrics"
    PREDICT = "Parameters of predict"
    FITTED = "What a fitted model has"
    NOWHERE = "Names without a counterpart"


@dataclass(frozen=True)
class Row:
    """One thing, by its names in five libraries.

    Parameters
    ----------
    place : Place
    here : str
        The name here; the subject, if there is no counterpart.
    xgboost, lightgbm, catboost, sklearn : str
        The names elsewhere, separated by blanks, the usual one first.
    note : str
        What differs here.
    example : str
        What to write instead, if it is not ``here=value``; ``{value}`` stands for the user's value.
    differing : str
        Those of the names whose values do not carry over; "*" for all.
    values : mapping of str to str
        Names of values here by those elsewhere.
    """

    place: Place
    here: str
    xgboost: str = ""
    lightgbm: str = ""
    catboost: str = ""
    sklearn: str = ""
    note: str = ""
    example: str = ""
    differing: str = ""
    values: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> dict[str, list[str]]:
        """The names elsewhere, by library."""
        return {library: getattr(self, library).split() for library in LIBRARIES}


def names_here(rows: Sequence[Row]) -> dict[str, str]:
    """The name here by each name elsewhere."""
    return {name: row.here for row in rows for names in row.names.values() for name in names if name != row.here}


objective, metric = partial(Row, Place.OBJECTIVES), partial(Row, Place.METRICS)
estimator, fit, trees = partial(Row, Place.ESTIMATOR), partial(Row, Place.FIT), partial(Row, Place.TREES)
predict, fitted, nowhere = partial(Row, Place.PREDICT), partial(Row, Place.FITTED), partial(Row, Place.NOWHERE)

# One thing a row, in the columns of the documentation.
# fmt: off
OBJECTIVES = [
    objective("log_loss", "binary:logistic multi:softprob multi:softmax", "binary multiclass",
              "Logloss MultiClass", "log_loss"),
    objective("squared_error", "reg:squarederror", "regression regression_l2", "RMSE", "squared_error"),
    objective("absolute_error", "reg:absoluteerror", "regression_l1", "MAE", "absolute_error"),
    objective("huber", "reg:pseudohubererror", "huber", "Huber:delta=1", "huber"),
    objective("quantile", "reg:quantileerror", "quantile", "Quantile:alpha=0.5", "quantile"),
    objective("poisson", "count:poisson", "poisson", "Poisson", "poisson"),
    objective("gamma", "reg:gamma", "gamma", "", "gamma"),
    objective("tweedie", "reg:tweedie", "tweedie", "Tweedie:variance_power=1.5"),
    objective("exponential", sklearn="exponential"),
    objective("cox", "survival:cox", "", "Cox"),
    objective("normal", "", "", "RMSEWithUncertainty"),
]
METRICS = [
    metric("log_loss", "logloss mlogloss", "binary_logloss multi_logloss", "Logloss MultiClass"),
    metric("accuracy", "error merror", "binary_error multi_error", "Accuracy"),
    metric("roc_auc", "auc", "auc", "AUC"),
    metric("average_precision", "aucpr", "average_precision", "PRAUC"),
    metric("neg_root_mean_squared_error", "rmse", "rmse", "RMSE"),
    metric("neg_mean_squared_error", "", "mse l2"),
    metric("neg_mean_absolute_error", "mae", "mae l1", "MAE"),
    metric("neg_mean_absolute_percentage_error", "mape", "mape", "MAPE"),
    metric("r2", "", "", "R2"),
]
LOSS_NAMES, METRIC_NAMES = names_here(OBJECTIVES), names_here(METRICS)

TABLE = [
    *OBJECTIVES,
    *METRICS,
    estimator("n_estimators", "n_estimators num_boost_round",
              "n_estimators num_iterations num_iteration num_boost_round num_rounds num_round num_trees num_tree "
              "nrounds n_iter max_iter", "iterations n_estimators num_trees num_boost_round",
              "max_iter n_estimators", "a maximum, 2,000 with early stopping, which is on by default"),
    estimator("learning_rate", "learning_rate eta", "learning_rate eta shrinkage_rate", "learning_rate eta",
              "learning_rate", "chosen by the size of the table by default, 0.1 to 0.3; may be a function of the "
              "round, such as `Decay()`"),
    estimator("loss", "objective", "objective objective_type application app loss", "loss_function objective",
              "loss", "scikit-learn's names; see below", values=LOSS_NAMES),
    estimator("loss", "quantile_alpha", "alpha", "", "quantile alpha",
              "the level of a quantile is a parameter of its loss", "loss=Quantile({value})"),
    estimator("loss", "tweedie_variance_power", "tweedie_variance_power", "", "",
              "the power is a parameter of the loss", "loss=Tweedie({value})"),
    estimator("loss", "huber_slope", "", "", "", "the threshold is a parameter of the loss",
              "loss=Huber({value})"),
    estimator("eval_metric", "eval_metric custom_metric feval", "metric metrics metric_types feval",
              "eval_metric custom_metric custom_loss", "scoring",
              "losses and scorers of scikit-learn; early stopping uses the last one", values=METRIC_NAMES),
    estimator("n_iter_no_change", "early_stopping_rounds", "early_stopping_round early_stopping_rounds",
              "early_stopping_rounds od_wait", "n_iter_no_change",
              "40 by default, fewer if `learning_rate` is left at its default; LightGBM also has a callback"),
    estimator("early_stopping", "", "", "", "early_stopping",
              "on for `auto`, `mixture`, `rff_newton`, `rff_ridge` and `rff_irls`; `False` for a plain fit"),
    estimator("tol", "", "early_stopping_min_delta", "od_pval", "tol",
              "a share of the decrease so far", differing="early_stopping_min_delta od_pval"),
    estimator("validation_fraction", "", "", "eval_fraction", "validation_fraction",
              "only if a single model holds out rows"),
    estimator("class_weight", "", "class_weight", "class_weights", "class_weight",
              "`None`, `\"balanced\"` or a dict with class labels", differing="class_weights"),
    estimator("class_weight", "scale_pos_weight", "scale_pos_weight", "scale_pos_weight", "",
              "by the label of the positive class", "class_weight={{1: {value}}}"),
    estimator("class_weight", "", "is_unbalance unbalance unbalanced_sets", "auto_class_weights", "",
              "all classes get the same total weight", 'class_weight="balanced"'),
    estimator("categorical_features", "enable_categorical feature_types",
              "categorical_feature cat_feature categorical_column cat_column", "cat_features",
              "categorical_features", "by default the columns of a categorical type",
              differing="enable_categorical feature_types"),
    estimator("missing", "missing", "use_missing", "nan_mode", "",
              "NaN is always a missing value; `\"error\"` refuses it in columns that had none in fit",
              differing="*"),
    estimator("extrapolation", note="beyond the training range of a feature, trees are constant; by default "
              "cosines are too"),
    estimator("learner", "booster", "boosting_type boosting boost linear_tree linear_trees",
              "boosting_type", "",
              "`\"tree\"` are XGBoost's trees alone; there is no DART, and there are no linear boosters",
              'learner="tree"'),
    estimator("callbacks", "callbacks", "callbacks", "callbacks callback", "",
              "functions of a `Progress`; a true result ends the training", differing="*"),
    estimator("callbacks", "", "snapshot_freq save_period", "save_snapshot snapshot_file snapshot_interval", "",
              "a `Checkpoint` writes the state of a fit", 'callbacks=[Checkpoint("fit.checkpoint")]'),
    estimator("warm_start", sklearn="warm_start"),
    estimator("random_state", "random_state seed",
              "random_state seed random_seed bagging_seed bagging_fraction_seed feature_fraction_seed extra_seed "
              "data_random_seed data_seed drop_seed objective_seed", "random_seed random_state", "random_state",
              "the same bits for any number of threads"),
    estimator("n_jobs", "n_jobs nthread", "n_jobs num_threads num_thread nthread nthreads", "thread_count", "",
              "1 by default, -1 for all cores"),
    estimator("verbose", "verbosity verbose_eval", "verbosity metric_freq output_freq",
              "verbose verbose_eval metric_period silent logging_level", "verbose",
              "k > 1 prints every k rounds", differing="verbosity silent logging_level"),

    fit("sample_weight", "sample_weight", "sample_weight", "sample_weight", "sample_weight",
        "weight 2 is equivalent to the row twice"),
    fit("eval_set", "eval_set evals", "eval_set valid_sets eval_X eval_y", "eval_set evals", "X_val y_val",
        "early stopping uses the last set; a dict names the sets; a Pipeline does not transform their rows",
        "eval_set=[(X_valid, y_valid)]"),
    fit("eval_set", "sample_weight_eval_set", "eval_sample_weight eval_class_weight", "", "sample_weight_val",
        "a set may have weights", "eval_set=[(X_valid, y_valid, weight)]"),
    fit("eval_set", "", "eval_names valid_names", "", "", "a dict names the sets",
        'eval_set={{"name": (X_valid, y_valid)}}'),
    fit("init_model", "xgb_model", "init_model input_model model_input model_in", "init_model", "",
        "also a model of XGBoost or LightGBM, which may have more categories than X"),
    fit("init_model", "base_score", "", "boost_from_average", "init", "scores to start from are those of a model; "
        "by default they are the constants that minimise the loss", differing="*"),
    fit("base_margin", "base_margin", "init_score", "baseline", "", "an offset of the raw scores, which "
        "predictions then need too; the constant that minimises the loss is added to it"),
    fit("base_margin_eval_set", "base_margin_eval_set", "eval_init_score", "", "",
        "by name if `eval_set` is a dict"),

    trees("max_depth", "max_depth", "max_depth", "depth max_depth", "max_depth", "0 for no limit"),
    trees("max_leaves", "max_leaves", "num_leaves num_leaf max_leaves max_leaf max_leaf_nodes",
          "max_leaves num_leaves", "max_leaf_nodes", "0 for no limit; LightGBM's trees have "
          "`grow_policy=\"lossguide\"`"),
    trees("max_bin", "max_bin", "max_bin max_bins", "border_count max_bin", "max_bins"),
    trees("min_child_weight", "min_child_weight",
          "min_child_weight min_sum_hessian_in_leaf min_sum_hessian_per_leaf min_sum_hessian min_hessian "
          "min_child_samples min_data_in_leaf min_data_per_leaf min_data min_samples_leaf",
          "min_data_in_leaf min_child_samples", "min_samples_leaf min_samples_split min_weight_fraction_leaf",
          "a sum of hessians, in the loss's unit (1 except for counts, absolute errors and quantiles), rather "
          "than a number of rows", differing="min_child_samples min_data_in_leaf min_data_per_leaf min_data "
          "min_samples_leaf min_samples_split min_weight_fraction_leaf"),
    trees("min_split_loss", "gamma min_split_loss", "min_split_gain min_gain_to_split", "",
          "min_impurity_decrease ccp_alpha", "`gamma` is the kernel parameter here",
          differing="min_impurity_decrease ccp_alpha"),
    trees("reg_lambda", "reg_lambda lambda", "reg_lambda lambda_l2 lambda l2_regularization",
          "l2_leaf_reg reg_lambda", "l2_regularization"),
    trees("reg_alpha", "reg_alpha alpha", "reg_alpha lambda_l1 l1_regularization"),
    trees("max_delta_step", "max_delta_step", "max_delta_step max_tree_output max_leaf_output"),
    trees("subsample", "subsample", "subsample bagging_fraction bagging sub_row", "subsample", "subsample"),
    trees("colsample_bytree", "colsample_bytree", "colsample_bytree feature_fraction sub_feature"),
    trees("colsample_bylevel", "colsample_bylevel", "", "rsm colsample_bylevel"),
    trees("colsample_bynode", "colsample_bynode", "feature_fraction_bynode colsample_bynode sub_feature_bynode",
          "", "max_features", "a share of the columns, such as 0.5", differing="max_features"),
    trees("grow_policy", "grow_policy", "", "grow_policy"),
    trees("monotone_constraints", "monotone_constraints",
          "monotone_constraints monotone_constraint monotonic_cst mc", "monotone_constraints", "monotonic_cst",
          "by position, not by name; with `learner=\"tree\"` only"),
    trees("interaction_constraints", "interaction_constraints", "interaction_constraints", "", "interaction_cst",
          "with `learner=\"tree\"` only"),

    predict("decision_function", "output_margin", "raw_score predict_raw_score predict_rawscore "
            "is_predict_raw_score", "prediction_type", "", "a method of classifiers; `raw_scores` of all models",
            "raw_scores(X)"),
    predict("staged_predict", "iteration_range ntree_limit",
            "num_iteration start_iteration num_iteration_predict start_iteration_predict", "ntree_start ntree_end",
            "", "after 1, 2, ... rounds; early stopping has removed the rounds after the best one",
            "staged_predict(X)"),
    predict("shap_values", "pred_contribs pred_interactions approx_contribs",
            "pred_contrib predict_contrib is_predict_contrib contrib", "", "", "exact, against background rows",
            "shap_values(X, background)"),
    predict("transform", "pred_leaf", "pred_leaf predict_leaf_index is_predict_leaf_index leaf_index", "", "",
            "the learned features: cosines, and outputs of trees", "transform(X)"),

    fitted("n_estimators_", "get_num_boosting_rounds best_ntree_limit", "n_iter_ n_estimators_", "tree_count_",
           "n_iter_", "the number of rounds, in total if several models are stacked or averaged"),
    fitted("best_iteration_", "best_iteration", "best_iteration_", "best_iteration_ get_best_iteration", "",
           "counted from 0, as in XGBoost and CatBoost; LightGBM counts from 1"),
    fitted("best_score_", "best_score", "best_score_", "best_score_ get_best_score", "",
           "a number; a dict in LightGBM and CatBoost"),
    fitted("evals_result_", "evals_result", "evals_result_", "evals_result_ get_evals_result get_test_eval",
           "train_score_", "by set and metric, after each round of the fitted model"),
    fitted("validation_scores_", "", "", "", "validation_score_",
           "what early stopping monitored, before the first and after every round that was trained"),
    fitted("learning_rate_", "", "", "learning_rate_", "",
           "the choice of \"auto\"; see also `n_folds_`, `learners_` and `learner_weights_`"),
    fitted("feature_importances_", "feature_importances_", "feature_importances_",
           "feature_importances_ get_feature_importance", "", "shares of the explained variance"),
    fitted("ensemble_", "get_booster", "booster_", "", "estimators_", "the rounds and their lengths"),
    fitted("loss_", "", "objective_", "", "", "the loss that was minimised"),
    fitted("feature_names_in_", "feature_names_in_", "feature_name_ feature_names_in_", "feature_names_",
           "feature_names_in_"),
    fitted("n_features_in_", "n_features_in_", "n_features_ n_features_in_", "n_features_in_ get_n_features_in",
           "n_features_in_"),
    fitted("staged_predict", "", "", "staged_predict", "staged_predict"),
    fitted("transform", "apply", "", "calc_leaf_indexes", "apply", "learned features instead of leaves"),
    fitted("save_model", "save_model", "", "save_model", "", "data only; `load_model` is a class method"),
    fitted("shap_values", note="exact, against background rows"),

    nowhere("tree construction: trees are grown by XGBoost's method hist",
            "tree_method updater refresh_leaf process_type predictor sampling_method multi_strategy "
            "max_cached_hist_node num_parallel_tree validate_parameters importance_type use_label_encoder silent",
            "importance_type subsample_for_bin bin_construct_sample_cnt subsample_freq bagging_freq tree_learner "
            "tree tree_type tree_learner_type force_col_wise force_row_wise histogram_pool_size hist_pool_size "
            "deterministic data_sample_strategy top_rate other_rate extra_trees extra_tree enable_bundle bundle "
            "is_enable_bundle is_enable_sparse sparse is_sparse enable_sparse feature_pre_filter min_data_in_bin "
            "max_bin_by_feature forcedbins_filename forcedsplits_filename forced_splits_filename "
            "forced_splits_file forced_splits fs use_quantized_grad num_grad_quant_bins quant_train_renew_leaf "
            "stochastic_rounding two_round two_round_loading use_two_round_loading zero_as_missing "
            "boost_from_average reg_sqrt sigmoid monotone_constraints_method monotone_constraining_method "
            "mc_method bagging_by_query",
            "bootstrap_type sampling_frequency sampling_unit score_function leaf_estimation_method "
            "leaf_estimation_iterations leaf_estimation_backtracking feature_border_type input_borders "
            "output_borders per_float_feature_quantization fold_permutation_block fold_len_multiplier "
            "approx_on_full_history has_time dev_score_calc_obj_block_size dev_efb_max_buckets "
            "sparse_features_conflict_fraction fixed_binary_splits od_type use_best_model best_model_min_trees "
            "data_partition", "criterion monitor"),
    nowhere("the machine: fits run on the CPU of one machine, and `n_jobs` is the number of threads",
            "device gpu_id n_gpus",
            "device_type device num_gpu gpu_device_id gpu_device_id_list gpu_platform_id gpu_use_dp num_machines "
            "num_machine machines workers nodes machine_list_filename machine_list machine_list_file mlist "
            "local_listen_port local_port port time_out pre_partition is_pre_partition top_k topk",
            "task_type devices device_config gpu_ram_part gpu_cat_features_storage pinned_memory_size "
            "used_ram_limit"),
    nowhere("the encoding of categories: trees split on sets of them, and cosines get indicators",
            "max_cat_to_onehot max_cat_threshold",
            "max_cat_to_onehot max_cat_threshold cat_l2 cat_smooth min_data_per_group",
            "one_hot_max_size max_ctr_complexity simple_ctr combinations_ctr per_feature_ctr store_all_simple_ctr "
            "counter_calc_method ctr_description ctr_history_unit ctr_leaf_count_limit ctr_target_border_count "
            "final_ctr_computation_mode model_size_reg"),
    nowhere("further penalties and noise",
            "seed_per_iteration feature_weights feature_selector",
            "path_smooth linear_lambda monotone_penalty monotone_splits_penalty mc_penalty "
            "ms_penalty feature_contri feature_contrib feature_penalty fc fp cegb_tradeoff cegb_penalty_split "
            "cegb_penalty_feature_lazy cegb_penalty_feature_coupled poisson_max_delta_step fair_c "
            "pos_bagging_fraction pos_sub_row pos_subsample pos_bagging neg_bagging_fraction neg_sub_row "
            "neg_subsample neg_bagging refit_decay_rate",
            "bagging_temperature random_strength random_score_type mvs_reg langevin diffusion_temperature "
            "posterior_sampling model_shrink_rate model_shrink_mode penalties_coefficient feature_weights "
            "first_feature_use_penalties per_object_feature_penalties ignored_features"),
    nowhere("DART", "rate_drop skip_drop one_drop sample_type normalize_type",
            "drop_rate rate_drop max_drop skip_drop uniform_drop xgboost_dart_mode"),
    nowhere("classes: they are those of y", "num_class", "num_class num_classes",
            "class_names classes_count target_border allow_const_label"),
    nowhere("queries of rankings: their labels are `qid` and `eval_qid` of `RFFBoostRanker.fit`", "group qid",
            "group_column group query query_column query_id group_id"),
    nowhere("rankings: `LambdaRank(k=10)` counts the first ten ranks, as the metric `ndcg@10` does",
            "lambdarank_num_pair_per_sample lambdarank_pair_method ndcg_exp_gain",
            "lambdarank_truncation_level lambdarank_norm lambdarank_position_bias_regularization label_gain "
            "eval_at ndcg_eval_at ndcg_at map_eval_at map_at"),
    nowhere("censored times: the distribution is that of a loss, such as `aft_normal`", "aft_loss_distribution"),
    nowhere("metrics and data of other tasks", "", "auc_mu_weights multi_error_top_k", "graph"),
    nowhere("text and embeddings: make numbers of them before the fit", "", "",
            "text_features embedding_features text_processing tokenizers dictionaries feature_calcers"),
    nowhere("reports of training", "disable_default_eval_metric maximize",
            "is_provide_training_metric is_training_metric training_metric train_metric first_metric_only "
            "saved_feature_importance_type keep_training_booster",
            "plot plot_file log_cout log_cerr train_dir allow_writing_files metadata name"),
    nowhere("names of columns: they are those of the table", "", "feature_name",
            "column_description"),
    nowhere("what is done with files: read them with pandas, polars or Arrow", "",
            "data train train_data train_data_file data_filename valid test valid_data valid_data_file test_data "
            "test_data_file valid_filenames header has_header label_column label weight_column weight "
            "ignore_column ignore_feature blacklist output_model model_output model_out output_result "
            "predict_result prediction_result predict_name prediction_name pred_name name_pred save_binary "
            "is_save_binary is_save_binary_file config config_file task convert_model convert_model_file "
            "convert_model_language parser_config_file precise_float_parser task_type"),
    nowhere("shortcuts of prediction: columns are always checked", "validate_features",
            "validate_features pred_early_stop pred_early_stop_freq pred_early_stop_margin "
            "predict_disable_shape_check"),
]
# fmt: on
