"""Descriptions of parameters and attributes that the docstrings of both estimators share."""

from __future__ import annotations

PARAMETERS = """loss : str or Loss, default="auto"
        The loss to minimise: a registered name or an instance; "auto" is {loss}.
    learner : str or Learner, default="auto"
        The weak learner fitted in each round: a registered name or an instance. "auto" is "mixture", second-order
        cosines mixed with trees, which early stopping stacks with models of cosines alone, see `quality`. Setting
        one of its parameters, such as ``learner__memory``, selects the mixture in place of "auto": no stack is
        trained, unless quality is "high".
    step : str or Step, default="auto"
        How far to move in each round; "auto" chooses a step that suits loss and learner.
    n_estimators : int, optional
        Boosting rounds of each model that is trained, an upper limit with early stopping: a stack has several
        models, and so more rounds in all. The default is 100, or 2,000 with early stopping, which an ``eval_set``
        turns on.
    learning_rate : "auto", float or callable, default="auto"
        Factor on every step, or a function that returns it for each round, counted from 0: a schedule, such as
        :class:`~rffboost_ext.Decay`. "auto" is 0.1, except for early stopping on up to 3,000 rows with
        learner left at "auto" and without ``eval_set``, ``init_model`` or ``warm_start``: then it is 0.3,
        with 4 folds and a patience of 12 rounds below 1,000 rows, and 5 folds and 15 rounds from there on. From
        100 features on it is 0.1 there too, with as many folds and 20 rounds.
    standardize : "auto" or bool, default="auto"
        Whether Fourier learners see features of mean 0 and variance 1. With "auto" skewed ones are bent by a
        logarithm before, where a kernel machine of a sample of the rows misses less of the others by that (see
        :class:`~rffboost_ext.terms.ClipAndLog`), if extrapolation is "constant" and the learner allows it, as
        "auto", "mixture", "rff_newton", "rff_ridge" and "rff_irls" do. The fitted ensemble takes the original
        features in any case, and trees see these.
    extrapolation : "constant" or "continue", default="constant"
        What cosines do beyond the range of a feature in fit: "constant" clips the feature to it, so that they are
        constant beyond, as trees are; "continue" lets them keep oscillating, as the published algorithms do.
        Custom types of terms are left as they are, unless they register with ``rffboost_ext.terms.hold``.
    early_stopping : "auto" or bool, default="auto"
        Whether to stop when the loss on held-out rows no longer improves. "auto" does so if fit is given an
        ``eval_set``, also in a warm start, or, except in a warm start, if the learner asks for it, as "auto",
        "mixture", "rff_newton", "rff_ridge" and "rff_irls" do, quality is "high", or n_folds or n_iter_no_change
        is given.
    validation_fraction : float, default=0.1
        Share of rows that a single model holds out for early stopping without ``eval_set``: at least 20 (half of
        fewer than 40). Of more than 20,000 about as many are scored, weighted for all.
    n_iter_no_change : "auto" or int, default="auto"
        Rounds without improvement after which early stopping ends the fit. "auto" is 40, or fewer where
        learning_rate="auto" chooses by the number of rows (see there); with more than 3,000 rows 25 if
        learning_rate and learner are "auto" and quality is not "high", and at least a tenth of the rounds up to
        the best one. With up to 3,000 rows and no ``eval_metric``, a classifier whose validation loss is below 20
        % of its initial value also stops when as many rounds reduce it by less than 1 % of that value; with more
        rows these shares are 5 % and 0.1 %, divided by the binary logarithm of the number of classes. "rff_ridge"
        models that are stacked beside the learner wait for 6 rounds at most, "rff_irls" models for 3.
    tol : float, default=1e-4
        Smallest decrease that counts as an improvement, as a share of the validation loss before the first round.
        For "rff_ridge" and "rff_irls" models that are stacked beside the learner it is at least 1e-3.
    n_folds : "auto" or int, default="auto"
        Number of models that early stopping trains, each with its own fold held out; the result is their average,
        in which each has up to 1.25 times the rounds that are best for it alone. With 1 a single model holds out
        `validation_fraction` of the rows. With an ``eval_set`` a single model is monitored on that, whatever
        n_folds is. "auto" is 4 below 1,000 rows and 5 up to 3,000 where learning_rate="auto" chooses by that
        number, and twice as many of two divisions with quality="high"; 1 with an ``init_model`` or a warm start;
        with up to 3,000 rows or quality="high" 5 for a stack and 4 otherwise; else 1; with an ``eval_metric`` at
        most as many in a division as the rarest class has rows.
    refit : "auto" or bool, default="auto"
        Whether the result is instead one model fitted to all rows, held-out ones too, with the mean number of
        rounds, scaled up with the number of rows; not if fit is given an ``eval_set``. "auto" refits if n_folds is
        1 and there are fewer than 10,000 rows; of the stack of more than 3,000 rows the first model only, since
        cosines alone gain nothing by it. True refits each model of a stack.
    quality : "auto", "fast" or "high", default="auto"
        In early stopping "auto" stacks the default learner with an "rff_ridge" model below 1,000 rows, with an
        "rff_newton" model above 3,000, and with both in between and from 100 features on, unless there is an
        ``init_model`` or a warm start; weights minimise the loss on held-out rows. With up to 3,000 rows a
        classifier of up to four classes adds an "rff_irls" model where the best of these leaves 2 % to 45 % of the
        loss before the first round, or up to 65 % from 1,000 rows on if the "rff_ridge" model leaves at most 1.2
        times that, and its first fold keeps up: classes can be told apart, but not yet without error. "high"
        always stacks, also a learner that is given in the place of the default one: with up to 3,000 rows models
        of two divisions into folds, whose kernel machines have four times as many frequencies; with more, of five
        folds, at a rate of 0.1. "fast" does not stack. The result is one ensemble.
    eval_metric : str, Loss, callable or list of these, optional
        Metrics to compute on each ``eval_set`` after every round, the loss by default: a loss or a scorer of
        scikit-learn by name, such as "roc_auc"; a function ``metric(y, prediction)`` of means or of probabilities,
        (n, K), or (n,) for the second of two classes, where lower is better unless its name ends with "_score"; or
        a scorer made by :func:`sklearn.metrics.make_scorer`. Early stopping monitors the last metric, also on rows
        that it holds out itself. A metric with a parameter ``sample_weight`` gets the weights.
    callbacks : sequence of callable, optional
        Each is called with a :class:`~rffboost_ext.Progress` after every round; a true result ends the
        training of that model. A refit does not call them. :class:`~rffboost_ext.ProgressBar` and
        :class:`~rffboost_ext.Checkpoint` are two.
    warm_start : bool, default=False
        Whether a fit continues from the rounds of the previous one, up to ``n_estimators``. It then trains one
        model, unless quality is "high" or n_folds is given.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same model, bit for bit.
    precision : "float32" or "float64", default="float32"
        Precision of the compiled passes over the features in fit; sums over rows are in float64. Predictions are
        in the precision of X.
    categorical_features : "from_dtype", None, or sequence of bool, int or str, default="from_dtype"
        The categorical columns: "from_dtype" takes those of a DataFrame (pandas, polars, ...) with a categorical
        type; a mask, indices or names select columns of any table or array. Trees split on sets of categories, as
        XGBoost does; cosines see them one-hot encoded, the rarest of more than 64 merged. Categories that were not
        seen in fit count as missing, with a warning where several rows have no other; text in place of numbers, or
        0.1 in float64 in place of float32, is an error.
    missing : "error" or "mean", default="error"
        How predict treats missing values in columns that had none in fit: with an error that names the column, or
        with imputation by its mean. In columns that had some, trees send them where XGBoost would; for cosines
        they are imputed by a linear regression on the row's other numeric features, plus a missing indicator.
    n_jobs : int or None, default=None
        Threads: None for one, -1 for all. The result does not depend on it. They share the passes over the rows in
        fit, the growing of trees, and predictions.
    verbose : int, default=0
        1 prints the training loss and the metrics on ``eval_set`` to standard error about ten times per fit, and
        at least every 50 rounds; k > 1 prints them every k rounds. Both announce when kernels are compiled, once
        per machine."""

ATTRIBUTES = """n_estimators_ : int
        Rounds in the fitted ensemble, in total if several models are stacked or averaged. Then it is not an index
        into ``evals_result_``.
    validation_scores_ : ndarray
        What early stopping monitored, before the first and after every round: the validation loss, or the last
        ``eval_metric``, negated if greater is better. Only with early stopping.
    n_folds_ : int
        Models of each kind that early stopping has trained, of which each held out its own rows.
    learners_ : list of Learner
        The kinds of models in the ensemble: several are a stack. Only with early stopping.
    learner_weights_ : ndarray
        The weight of each of these kinds; they sum to 1. Only with early stopping.
    learning_rate_ : float or callable
        The learning rate of the fit, where "auto" has chosen it too.
    evals_result_ : dict
        ``evals_result_[set][metric]`` is a list with a number for each round of the fit; only with ``eval_set``.
        The sets of a list are "validation_0", "validation_1" and so on. Of a stack it is that of its first model.
    n_features_in_ : int
        Number of features seen in fit."""
