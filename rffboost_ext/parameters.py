"""What the docstrings of both estimators say of their parameters and attributes."""

PARAMETERS = """loss : str or Loss, default="auto"
        What is minimised: a registered name or an instance; "auto" is {loss}.
    learner : str or Learner, default="auto"
        What is fitted in each round: a registered name or an instance; "auto" is "mixture", second-order cosines
        mixed with trees. With a parameter of its own set, such as ``learner__memory``, it is that mixture and no
        longer "auto": one model, unless quality is "high".
    step : str or Step, default="auto"
        How far each round moves; "auto" takes what suits loss and learner.
    n_estimators : int, optional
        Boosting rounds of each model that is trained, a ceiling where early stopping is on: a stack has several
        models, and so more rounds in all. By default 100, or 2,000 where early stopping is on.
    learning_rate : "auto", float or callable, default="auto"
        Factor on every step, or a function that returns it for each round, counted from 0: a schedule, such as
        :class:`~rffboost_ext.Decay`. "auto" is 0.1, but from 1,000 to 3,000 rows, where early stopping, n_folds
        and learner are left as they are and fit is given no ``eval_set``, 0.3 with 8 folds and a patience of 14
        rounds, 25 of a classifier, or for quality="fast" 0.2 with a patience of 20; not for quality="high", nor
        with an ``init_model`` or ``warm_start``.
    standardize : bool, default=True
        Whether Fourier learners see features of mean 0 and variance 1. The fitted ensemble acts on the
        features as they come in either case.
    extrapolation : "constant" or "continue", default="constant"
        What cosines do beyond the range that a feature has in fit: "constant" holds them at its end, as trees are;
        "continue" lets them swing on, as the published algorithms do. A term of a type of your own goes on in its
        own way, unless it registers with ``rffboost_ext.terms.hold``.
    early_stopping : "auto" or bool, default="auto"
        Whether to hold out rows and stop when their loss no longer improves. "auto" leaves it to the learner,
        which asks for it if it is "auto", "mixture" or "rff_newton", and means no in a warm start; quality="high",
        n_folds and n_iter_no_change ask for it too.
    validation_fraction : float, default=0.15
        Share of rows held out for early stopping where fit is given no ``eval_set``: 20 at least, 20,000 at most.
    n_iter_no_change : "auto" or int, default="auto"
        Rounds without improvement after which early stopping ends the fit. "auto" is 40, or fewer where
        learning_rate="auto" is more than 0.1, and, with more than 3,000 rows, a tenth of the rounds up to the best
        one, if that is more. Up to 3,000 rows a classifier whose held-out loss has fallen to a fifth also stops
        where as many rounds take less than 1 % of the first loss off it.
    tol : float, default=1e-4
        What early stopping counts as an improvement, as a share of the loss before the first round.
    n_folds : "auto" or int, default="auto"
        Models that early stopping trains, each of which holds out a fold of its own; the result is their average,
        in which each has up to 1.25 times the rounds that are best for it alone. With 1 a single model holds out
        `validation_fraction` of the rows. An ``eval_set`` is what a single model is watched on, whatever is said
        here. "auto" is 8 where learning_rate="auto" is 0.3, else 1 with more than 3,000 rows unless quality is
        "high", else 5 for a stack and 4 otherwise; with an ``eval_metric`` at most as many as the rarest class has
        rows.
    refit : "auto" or bool, default="auto"
        Whether the result is instead one model of all rows, held-out ones too, with the mean number of rounds,
        and as many more of them as there are more rows; not where fit is given an ``eval_set``.
        "auto" does so where one part is held out of fewer than 10,000 rows; of a stack, with both models.
    quality : "auto", "fast" or "high", default="auto"
        "auto" stacks the learner with "rff_newton" in early stopping where learner is "auto", each weighted by how
        it does on rows that it has not seen. "high" always does, and with five folds at a rate of 0.1; "fast"
        never. The result is one ensemble in any case.
    eval_metric : str, Loss, callable or list of these, optional
        What is computed on each ``eval_set`` after every round, the loss by default: a loss or a scorer of
        scikit-learn by name, such as "roc_auc"; a function ``metric(y, prediction)`` of means, of probabilities
        (n, K), or of those of the second of two classes (n,), where less is better unless its name ends with
        "_score"; a function ``scorer(estimator, X, y)``, where more is better. Early stopping watches the last
        one, on rows that it holds out itself too. Rows are weighted where the metric takes ``sample_weight``.
    callbacks : sequence of callable, optional
        Each is called with a :class:`~rffboost_ext.callbacks.Progress` after every round; a true result ends
        the fit. A refit does not call them. :class:`~rffboost_ext.ProgressBar` and
        :class:`~rffboost_ext.Checkpoint` are two.
    warm_start : bool, default=False
        Whether a fit goes on from the rounds of the previous one, up to ``n_estimators``. It grows one model then,
        unless quality is "high" or n_folds says otherwise.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same bits.
    precision : "float32" or "float64", default="float32"
        Precision of the compiled passes over the features in fit; sums over rows are in float64. Predictions
        are in the precision of X.
    categorical_features : "from_dtype", None, or sequence of bool, int or str, default="from_dtype"
        Which columns hold categories: "from_dtype" those of a DataFrame (pandas, polars, ...) of the data type
        category; a mask, indices or names say so of any table or array. Trees split them into sets, as XGBoost
        does; cosines see them one-hot, the rarest of more than 64 as one. A category that fit has not seen counts
        as missing, and is never an error.
    missing : "error" or "mean", default="error"
        What becomes of missing values, at predict, in a column that had none in fit: an error that names it, or
        the mean of the column. In a column that had some, trees send them where XGBoost would, cosines take what
        the row's other numbers tell, by a linear prediction that fit learned, and see by an indicator that there
        was none.
    n_jobs : int or None, default=None
        Threads: None for one, -1 for all. The result does not depend on it.
    verbose : int, default=0
        1 prints the training loss and those of ``eval_set`` ten times in a fit and every 50 rounds at least, on
        standard error; k > 1 prints them every k rounds. Either says when the passes over the data are compiled:
        once for a machine."""

ATTRIBUTES = """n_estimators_ : int
        Rounds in the fitted ensemble, those of all its models where several are stacked or averaged. Then it is no
        index into ``evals_result_``.
    validation_scores_ : ndarray
        What early stopping watched, before the first and after every round: the held-out loss, or the last metric
        of ``eval_metric`` with the sign by which less is better. Only with early stopping.
    evals_result_ : dict
        ``evals_result_[set][metric]`` is a list with a number for each round of the fit; only with ``eval_set``.
        The sets of a list are "validation_0", "validation_1" and so on. Of a stack it is that of its first model.
    n_features_in_ : int
        Number of features seen in fit."""
