"""What the docstrings of both estimators say of their parameters."""

PARAMETERS = """loss : str or Loss, default="auto"
        What is minimised: a registered name or an instance; "auto" is {loss}.
    learner : str or Learner, default="auto"
        What is fitted in each round: a registered name or an instance; "auto" is "mixture", second-order cosines
        mixed with trees.
    step : str or Step, default="auto"
        How far each round moves; "auto" takes what suits loss and learner.
    n_estimators : int, optional
        Boosting rounds, a ceiling where early stopping is on. By default 100, or 2,000 where it is on.
    learning_rate : float, default=0.1
        Factor on every step.
    standardize : bool, default=True
        Whether Fourier learners see features of mean 0 and variance 1. The fitted ensemble acts on the
        features as they come in either case.
    early_stopping : "auto" or bool, default="auto"
        Whether to hold out rows and stop when their loss no longer improves. "auto" leaves it to the learner,
        which asks for it if it is "auto", "mixture" or "rff_newton", and means no in a warm start.
    validation_fraction : float, default=0.15
        Share of rows held out for early stopping where fit is given no ``eval_set``: 20 at least, 20,000 at most.
    n_iter_no_change : int, default=40
        Rounds without improvement after which early stopping ends the fit.
    tol : float, default=2e-4
        What early stopping counts as an improvement, as a share of the loss before the first round.
    n_folds : "auto" or int, default="auto"
        Models that early stopping trains, each of which holds out a fold of its own; the result is their average.
        With 1 a single model holds out `validation_fraction` of the rows. "auto" is 5 for a stack, else 4 up to
        3,000 rows, else 1.
    refit : "auto" or bool, default="auto"
        Whether the result is instead one model of all rows, held-out ones too, with the mean number of rounds.
        "auto" does so for a single model of fewer than 10,000 rows.
    quality : "auto", "fast" or "high", default="auto"
        "high" stacks the learner with "rff_newton" in early stopping, each weighted by how it does on rows that it
        has not seen; "fast" does not. "auto" stacks where learner is "auto" and there are up to 3,000 rows. The
        result is one ensemble in any case.
    callbacks : sequence of callable, optional
        Each is called with a :class:`~rffboost_ext.callbacks.Progress` after every round; a true result ends
        the fit. A refit does not call them.
    warm_start : bool, default=False
        Whether a fit goes on from the rounds of the previous one, up to ``n_estimators``.
    random_state : int, RandomState or None, default=None
        Seed; the same seed gives the same bits.
    precision : "float32" or "float64", default="float32"
        Precision of the compiled passes over the features in fit; sums over rows are in float64. Predictions
        are in the precision of X.
    n_jobs : int or None, default=None
        Threads: None for one, -1 for all. The result does not depend on it.
    verbose : int, default=0
        1 prints the training loss ten times in a fit, on standard error, and says when the passes over the data
        are compiled: once for a machine."""
