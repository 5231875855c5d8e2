"""Descriptions of parameters and attributes that the docstrings of the estimators share."""

from __future__ import annotations

import re
from textwrap import indent
from types import FunctionType
from typing import TypeVar

D = TypeVar("D")

PLACE = re.compile(r"^( +)\{(\w+)\}$", re.MULTILINE)

PARAMETERS = """loss : str or Loss, default="auto"
        The loss to minimise: a registered name or an instance; "auto" is {loss}.
    learner : str or Learner, default="auto"
        The weak learner fitted in each round: a registered name or an instance. "auto" is a stack of
        several kinds of models with early stopping, see `quality`; otherwise it is "mixture", second-order cosines
        and symmetric trees. Setting one of its parameters, such as ``learner__memory``, selects the mixture.
    step : str or Step, default="auto"
        How far to move in each round; "auto" chooses a step that suits loss and learner.
    n_estimators : int, optional
        Boosting rounds of each model, an upper limit with early stopping. The default is 100, or 2,000 with early
        stopping.
    learning_rate : "auto", float or callable, default="auto"
        Factor on every step, or a function that returns it for each round, counted from 0, such as
        :class:`~rffboost_ext.Decay`. "auto" depends on the learner and on the numbers of rows and features; see
        ``docs/defaults.md``.
    standardize : "auto" or bool, default="auto"
        Whether Fourier learners get features of mean 0 and variance 1. With "auto" skewed features are also
        log-transformed (:class:`~rffboost_ext.terms.ClipAndLog`) if this lowers the leave-one-out error of kernel
        ridge regression on a sample, ``extrapolation`` is "constant" and the learner supports it. The fitted
        ensemble takes the original features in any case.
    extrapolation : "constant" or "continue", default="constant"
        What cosines and linear functions do beyond the range of a feature in fit: "constant" clips the feature to
        its range, so that they are constant there, as trees are; "continue" lets cosines oscillate, as the
        published algorithms do, and lines go on.
    early_stopping : "auto" or bool, default="auto"
        Whether to stop when the loss on held-out rows no longer improves. "auto" does so if fit has an
        ``eval_set`` or, without ``warm_start``, if the learner is "auto", "mixture", "rff_newton", "rff_ridge",
        "rff_irls", "lasso", "ridge", "symmetric_tree" or one whose :class:`~rffboost_ext.LearnerPolicy` says so,
        or n_folds or n_iter_no_change is set. A recipe needs early stopping.
    validation_fraction : float or splitter, default=0.1
        Share of rows that a single model holds out for early stopping without ``eval_set``: at least 20 rows, or
        half of fewer than 40. Of more than 20,000 held-out rows about 20,000 are scored, weighted for all. Or a
        splitter of scikit-learn, such as ``TimeSeriesSplit``, whose ``split(X, y, groups)`` says for each model
        which rows it is fitted to and which it holds out; `refit` is then by default true.
    n_iter_no_change : "auto" or int, default="auto"
        Rounds without improvement after which early stopping ends the fit. "auto" depends on the number of rows
        if ``learning_rate`` is "auto", and is 40 otherwise; see ``docs/defaults.md``. A classifier without
        ``eval_metric`` also stops once its validation loss is small and hardly falls.
    tol : float, default=1e-4
        Smallest decrease that counts as an improvement, as a share of the decrease so far, from the validation
        loss before the first round to the lowest one.
    n_folds : "auto" or int, default="auto"
        Number of models of each member that early stopping trains, each with its own fold held out; the result is
        their average. With 1 a single model holds out `validation_fraction` of the rows. With an ``eval_set`` a
        single model is monitored on that. "auto" is the number of the recipe, whose members may have models of the
        first folds only, and 1 with ``quality="fast"``, an ``init_model`` or a warm start; with an
        ``eval_metric`` at most as many as the rarest class has rows. See ``docs/defaults.md``.
    refit : "auto" or bool, default="auto"
        Whether models are fitted to all rows, held-out ones too, once early stopping has chosen their rounds; not
        with an ``eval_set``. With "auto" each member of the recipe says so, see
        :class:`~rffboost_ext.recipes.MemberRule`: a model stays, its terms are fitted to all rows again (of trees
        the splits stay), or one model of new rounds is trained. With True no model stays as it is, with False all
        do.
    quality : "auto", "fast" or Recipe, default="auto"
        What early stopping trains. "auto" stacks symmetric trees with kernel machines up to 3,000 rows, with a
        mixture above, and from 1,000 rows on with cosines; weights minimise the loss on held-out rows. See
        :func:`~rffboost_ext.recipes.choose_recipe` and ``docs/defaults.md``. "fast" trains one model of symmetric
        trees, and on a large sparse matrix one of ridge regression; it has no effect on a ranker, or with a
        learner. A :class:`~rffboost_ext.recipes.Recipe` has the members of a stack of your own; the learner is
        then "auto".
    eval_metric : str, Loss, callable or list of these, optional
        Metrics to compute on each ``eval_set`` after every round, the loss by default: by name a loss, a metric of
        :data:`rffboost_ext.metrics.METRICS` such as "ndcg@10" or "concordance", or a scorer of scikit-learn such
        as "roc_auc"; a function ``metric(y, prediction)`` of means or of probabilities, (n, K), or (n,) for the
        second of two classes, where lower is better unless its name ends with "_score"; or a scorer made by
        :func:`sklearn.metrics.make_scorer`. Early stopping monitors the last one. A metric with a parameter
        ``sample_weight`` gets the weights.
    callbacks : sequence of callable, optional
        Each is called with a :class:`~rffboost_ext.Progress` after every round, which has the metrics so far; a
        true result ends the training of that model. A refit does not call them.
        :class:`~rffboost_ext.TimeBudget` ends the whole fit.
    warm_start : bool, default=False
        Whether a fit continues from the rounds of the previous one, up to ``n_estimators``. It then trains one
        model, unless n_folds is set or quality is a recipe.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same model, bit for bit.
    precision : "float32" or "float64", default="float32"
        Precision of the compiled passes over the features in fit; sums over rows are in float64. Predictions are
        in the precision of X.
    monotone_constraints : sequence of -1, 0 and 1, or mapping, optional
        The direction in which predictions change with each column, 0 for any: one sign per column, or a mapping
        from names of columns. Members of a stack that are no trees are left out, and trees have constant leaves.
    categorical_features : "from_dtype", "auto", None, or sequence of bool, int or str, default="from_dtype"
        The categorical columns: "from_dtype" takes those of a data frame (pandas, polars, ...) with a categorical
        type, or of text of at most 255 levels with two rows each on average, "auto" also such text of an array; a
        mask, indices or names select columns of any table or array. Trees split on sets of categories; for cosines
        they are one-hot encoded, the rarest of more than 64 merged. Unknown categories count as missing, with a
        warning if several rows have no other. Text instead of numbers is an error.
    missing : "auto" or "error", default="auto"
        How missing values are treated in columns that have none in fit. With "auto" trees send them where XGBoost
        would, by the default direction of each split, and cosines impute the mean; "error" is an error that names
        the column. In columns with missing values in fit, trees learn the direction; for cosines they are imputed
        by linear regression on the row's other numbers and flagged by an indicator.
    n_jobs : int or None, default=None
        Threads: None for all cores that the process may use, but one within a worker of joblib or Dask; -1 for all
        cores. The result does not depend on it.
    verbose : int, default=0
        1 prints the seconds so far and how many are left at most, the training loss, and the metrics on
        ``eval_set`` or the validation score to standard error, about ten times per model, and at least every 50
        rounds; k > 1 prints them every k rounds. Lines name the member of a stack and the fold, if there are
        several."""

WITHOUT_LOSS = PARAMETERS[PARAMETERS.index("learner : ") :]

ATTRIBUTES = """ensemble_ : Ensemble
        The fitted ensemble; ``ensemble_.raw(X)`` are raw scores, (n, C).
    loss_ : Loss
        The loss that was minimised; ``loss_.link.inverse(raw)`` is its response, such as probabilities, means or
        quantiles.
    encoder_ : FeatureEncoder
        Names, categories and missing values of the columns; ``encoder_.transform(X)`` is what ``ensemble_`` takes.
    n_estimators_ : int
        Rounds in the fitted ensemble, in total if several models are stacked or averaged.
    validation_scores_ : ndarray
        What early stopping monitored, before the first and after every round that was trained: the validation
        loss, or the last ``eval_metric``, negated if greater is better. In a stack it is of the first of
        ``learners_``; of several folds it is the mean while all are trained. Only with early stopping.
    validation_curves_ : list of list of ndarray
        The same for each model: ``validation_curves_[member][fold]`` is of a model of ``learners_[member]``, up to
        the last round that it was trained. Only with early stopping.
    n_folds_ : int
        The largest number of models of a member, each with its own held-out rows. Only with early stopping.
    recipe_ : Recipe
        What the fit has trained: the members with their learners, rates and folds, parameters of the estimator
        included.
    member_names_ : list of str
        The names in ``recipe_`` of the members of the ensemble, which are those of weight above 0. Only with early
        stopping.
    learners_ : list of Learner
        The learners of these members. Only with early stopping.
    learner_weights_ : ndarray of shape (m,) or (m, C)
        The weight of each of these learners; they sum to 1. In a stack for several scores of one target, such as
        the parameters of a distribution, each score has its own weights. Only with early stopping.
    learning_rate_ : float or callable
        The learning rate of the fit.
    evals_result_ : dict
        ``evals_result_[set][metric]`` is a list whose entry i is the metric of the fitted model after i + 1
        rounds, the stage i of ``staged_predict``, rounds of a previous or an initial model included. Only with
        ``eval_set``; the sets of a list are "validation_0", "validation_1" and so on.
    best_iteration_ : int
        The best stage of ``staged_predict``, counted from 0: by the last ``eval_metric`` on the last set of
        ``evals_result_``, or without ``eval_set`` the last stage, since early stopping drops the rounds after the
        best. Only with ``eval_set`` or early stopping.
    best_score_ : float
        The metric of that stage; without ``eval_set`` the monitored error of the ensemble on the held-out rows,
        before a refit and on average over folds.
    n_features_in_ : int
        Number of features in fit.
    n_rows_seen_ : int
        Number of rows in fit; of a source all rows, of which a sample may be kept.
    n_copies_ : int
        Number of rows that equal an earlier one in X, y and ``base_margin``: rows minus distinct rows, by 64-bit
        hashes. Of a source it counts the rows that are kept. Only if early stopping holds out single rows, as it
        does without ``eval_set``, groups and splitter."""

MARGIN = """base_margin : array-like of shape (n,) or (n, C), optional
    The offset of each row; required by a model that was fitted with one, else None."""

TEXTS = {
    "X": """X : array-like of shape (n, d), or Source
    Features: numbers, and categories according to ``categorical_features``; missing values are NaN or the data
    frame's own marker (None, pd.NA). A :class:`~rffboost_ext.sources.Source` has rows that do not fit in memory,
    with targets, weights and groups, which are then not given here.""",
    "y": """y : array-like of shape (n,) or (n, K), optional
    Targets. Of a classifier: class labels; or zeros and ones that say which of L labels a row has (multilabel); or
    labels and the columns of a loss that takes further ones, such as costs. Of a regressor: real numbers in the
    columns that the loss takes, finite unless its attribute ``infinite`` is true; several targets where loss and
    learner can fit several (attribute ``multi_output``), whose weights ``SquaredError(output_weights=...)`` sets;
    by default they are scaled to count equally. Of a survival model: a structured array with two fields of any
    names, whether the event was observed, and its time, or that of censoring; an array (n,) of times that were all
    observed; or, for the losses "aft_normal", "aft_logistic" and "aft_extreme", an array (n, 2) of lower and upper
    bounds of times. Bounds are equal if the time is known; an infinite upper one is of a time censored on the
    right, a lower one of 0 of a time censored on the left.""",
    "sample_weight": """sample_weight : array-like of shape (n,), optional
    Non-negative weights; weight 0 is equivalent to leaving the row out. Weight 2 is equivalent to the row twice in
    fits without early stopping, unless the loss couples rows. Early stopping holds out a row with all of its
    weight, however large that is, but copies of a row one by one. In a survival model weights enter the risk sets
    of "cox" and the baseline hazard.""",
    "init_model": """init_model : Ensemble, fitted estimator, or model of XGBoost or LightGBM, optional
    A model to continue from: its rounds come first in ``ensemble_``, followed by ``n_estimators`` new ones. Its
    raw scores must be on the same link scale as the loss; for a bare Ensemble this is assumed. If it was trained
    on rows of X, early stopping needs an ``eval_set`` of other rows, or ends too soon.""",
    "eval_set": """eval_set : list of (X, y) pairs, (X, y, weight) triples or sources, or dict of such, optional
    Rows to evaluate on after every round: ``evals_result_`` has every metric on each of them. Early stopping
    monitors the last set instead of holding out rows itself. A single set needs no list. Of a source it is a
    uniform sample of at most its ``max_rows`` rows. Rows of weight 0 are left out. Rows of the training set are
    not monitored, nor is a set without best scores, such as one of one class or of censored times: a warning says
    what is instead.""",
    "groups": """groups : array-like of shape (n,), optional
    Labels of groups of rows, such as patients, of any hashable type. Early stopping holds out whole groups. Copies
    of a row, as oversampling makes, are held out together if they have the same label.""",
    "base_margin": """base_margin : array-like of shape (n,) or (n, C), optional
    An offset of each row, which is added to its raw scores in the fit, such as the log of an exposure for a loss
    with a log link. Predictions with the model then need it too. ``ensemble_``, importances and Shapley values are
    of the scores without it.""",
    "base_margin_eval_set": """base_margin_eval_set : list of array-like, or dict of names to such, optional
    The offset of each set of ``eval_set``, by name if that is a dict; required for them if ``base_margin`` is
    given.""",
    "rows": f"X : array-like of shape (n, d)\n{MARGIN}",
    "margin": MARGIN,
    "functions": f"""return_array : bool, default=False
    Whether to return values at ``unique_times_`` instead of functions.
{MARGIN}

Returns
-------
ndarray of shape (n,) of StepFunction, or of shape (n, T)
    The functions have attributes ``x``, ``y`` and ``domain_``, and can be called with times in the domain.
    With a loss of accelerated failure times they are those of its distribution, at any time from 0 on.""",
    "refresh": """The splits of trees and the frequencies of cosines stay. Leaves, amplitudes, the baseline and, in
a stack, the weights of its models are fitted again, round by round, with the parameters and the seed of the
fit. The features keep their categories, imputation and scales. Rounds of an ``init_model`` stay as they are.
The model changes in place, as with ``fit``; a refresh that fails or is interrupted leaves it unchanged.

Pass all rows that the model should describe: new ones alone, or old and new ones, with larger weights for the new.
The weights of a stack are chosen on held-out rows, which all models are fitted to in the end.""",
    "prior_weight": """prior_weight : float, default=5.0
    How much of the old values stays: the old value of a leaf, and the old amplitudes of a frequency, count for so
    many rows of average curvature in addition to the given ones. With 0 the values depend on the given ones alone.
    The cosines of "rff_1" and "rff_k" have no old values, since a step sets their length.""",
    "weight": f"""sample_weight : array-like of shape (n,), optional
    Non-negative weights.
{MARGIN}""",
    "raises_refresh": """Returns
-------
self

Raises
------
ValueError, TypeError
    If the data or a parameter are invalid, y has a class that is unknown to the model, or the model cannot be
    refreshed: its learner has no method ``refit``, or it was averaged or made of an ensemble.""",
    "raises": """Returns
-------
self

Raises
------
ValueError, TypeError
    If a parameter, a part or the data are invalid; the message names it.
KeyboardInterrupt
    If the user interrupts it. The model then has the rounds that were done, if there are any.""",
}
"""What several methods say of their parameters, results and errors."""


def documented(part: D) -> D:
    """A class, or one of its methods, in whose docstrings each line ``{name}`` has become the entry of `TEXTS`."""
    for one in vars(part).values() if isinstance(part, type) else [part]:
        if isinstance(one, FunctionType) and one.__doc__:
            one.__doc__ = PLACE.sub(lambda line: indent(TEXTS[line[2]], line[1]), one.__doc__)
    return part
