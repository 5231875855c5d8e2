"""LightGBM's scikit-learn estimators with our losses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import lightgbm
import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from ..core import Loss, Observations
from ..losses.registry import LOSSES
from ..losses.target_statistics import has_own_columns
from ..rows.row_arguments import check_base_margin
from ..rows.tables import target_array
from ..rows.targets import decision_values, first_labels
from ..rows.weights import check_sample_weight
from ..utils.typing import Array
from .estimator import TEMPLATE, HostEstimator, as_csr, routed
from .fit_targets import pairs_of_sets, with_sets
from .lightgbm_host import HOST
from .objectives import attach, host_labels
from .score_conversion import ArrayMetric, ArrayObjective

DESCRIPTION = partial(
    TEMPLATE.format,
    files="Pickle stores the\n    whole estimator; a file of ``booster_.save_model`` holds only the trees.",
    without="objective and those of its own objectives, such as alpha",
)
# LightGBM's aliases of parameters.
METRIC = ("metric", "metrics", "metric_types")
NUM_CLASS = ("num_class", "num_classes")


@dataclass(eq=False)
class BeforeFirstRound:
    """Callback of ``lightgbm.train``: the Datasets of a fit get their targets, (n, K), and it keeps its objective.

    For a callable, ``Booster.update`` sets the objective "none", which fails if there is no feature to split on.
    """

    targets: list[Array]
    before_iteration: ClassVar[bool] = True

    def __call__(self, env: Any) -> None:
        booster = env.model
        if env.iteration != env.begin_iteration:
            return
        datasets = [booster.train_set, *booster.valid_sets] if self.targets else []
        for data, target in zip(datasets, self.targets, strict=True):
            attach(data, y=target)

        def reset(params: dict[str, Any]) -> Any:
            if params != {"objective": "none"}:
                return type(booster).reset_parameter(booster, params)
            del booster.reset_parameter
            return booster

        booster.reset_parameter = reset


class LGBMEstimator(HostEstimator):
    """Base class of classifier and regressor.

    LightGBM stores no intercept for a callable, so the estimator adds the baseline to its raw scores.
    """

    _host = HOST
    _other_params: dict[str, Any]
    class_weight: Any
    _class_weight: Any
    __metadata_request__fit = routed(lightgbm.LGBMModel.fit, "qid", "eval_qid")
    __metadata_request__predict = routed(lightgbm.LGBMModel.predict)

    @classmethod
    def _get_param_names(cls) -> list[str]:
        # scikit-learn does not inspect the keywords that the constructor passes on.
        return sorted({"loss", *lightgbm.LGBMModel._get_param_names()})

    def _fit_loss(self, y: Any, sample_weight: Any) -> Observations:
        return super()._fit_loss(y, self._times_class_weight(y, sample_weight))

    def _start_scores(self, rows: Observations, options: Mapping[str, Any]) -> Array:
        model, init_score, n_outputs = options.get("init_model"), options.get("init_score"), len(self.baseline_)
        # LightGBM also takes the scores of several outputs one after another.
        is_flat = n_outputs > 1 and init_score is not None and np.shape(init_score) == (len(rows) * n_outputs,)
        if init_score is not None and not is_flat:
            check_base_margin(init_score, len(rows), n_outputs, "init_score")
        if model is not None:
            return self._continued_baseline(model)
        starts_from_0 = init_score is not None or self._other_params.get("boost_from_average") in (False, "false")
        return np.zeros(n_outputs) if starts_from_0 else self.baseline_

    def _train(self, X: Any, y: Any, rows: Observations, options: dict[str, Any]) -> None:
        metrics = options.pop("eval_metric", None)
        for spelling, value in {"eval_metric": metrics, **self._other_params}.items():
            if spelling in ("eval_metric", *METRIC):
                self._check_metrics(spelling, value, "ignore the baseline and the link")
        metrics = self._metrics(metrics if isinstance(metrics, list | tuple) else [metrics])
        metrics = [one.with_direction if isinstance(one, ArrayMetric) else one for one in metrics]
        sets, labels = pairs_of_sets(options), host_labels(rows.y)
        # LightGBM recognises the training data among evaluation sets by identity.
        targets = [rows.y if data is X and own is y else self._read_target(own) for data, own in sets]
        read = {id(data): as_csr(data) for data in (X, *(data for data, _ in sets))}
        codes = [labels if one is rows.y else host_labels(one) for one in targets]
        options = with_sets(options, [(read[id(data)], y) for (data, _), y in zip(sets, codes, strict=True)])
        attached = [rows.y, *(one for one in targets if one is not rows.y)]
        first = BeforeFirstRound(attached if any(map(self._needs_attached, attached)) else [])
        options["callbacks"] = [first, *(options.get("callbacks") or ())]
        if (classes := self._targets.classes) is not None:
            self._classes, self._n_classes = classes, len(classes)
            self._class_map = {label: code for code, label in enumerate(classes.tolist())}
            if self.class_weight is not None:
                # LightGBM would apply it once more.
                self._class_weight, options["sample_weight"] = {}, rows.weight
        # LightGBM's classifier would encode the labels again.
        lightgbm.LGBMModel.fit(self, read[id(X)], labels, eval_metric=metrics, **options)

    def _host_predict(self, X: Any, **options: Any) -> Any:
        return lightgbm.LGBMModel.predict(self, as_csr(X), **options)

    def _times_class_weight(self, y: Any, sample_weight: Any) -> Any:
        """Sample weights times those by ``class_weight``."""
        class_weight, y = self.class_weight, y if y is None else target_array(y)
        if class_weight is None or y is None:
            return sample_weight
        is_multilabel = (
            y.ndim == 2 and y.shape[1] > 1 and not has_own_columns(LOSSES.create(self.loss), y.shape[1])
        )
        if self.task == "regression" or is_multilabel:
            needed = "class_weight must be None without one class for each row"
            raise ValueError(f"{type(self).__name__}: {needed}, got {class_weight!r}")
        return check_sample_weight(sample_weight, len(y)) * compute_sample_weight(class_weight, first_labels(y))

    def _process_params(self, stage: str) -> dict[str, Any]:
        # By a plain estimator, as "loss" is LightGBM's alias of its objective.
        own = {name: value for name, value in self.get_params(deep=False).items() if name != "loss"}
        objective = ArrayObjective(self.loss_, self.score_conversion())
        if stage == "fit":
            # LightGBM's fit has just reset it.
            self._objective = objective
        params = lightgbm.LGBMModel(**own | {"objective": objective})._process_params(stage)
        # LightGBM counts classes; a loss may have another number of scores.
        params = {name: value for name, value in params.items() if name not in NUM_CLASS}
        params |= {"num_class": len(self.baseline_)}
        # LightGBM's default metric would ignore the baseline.
        return params if {*METRIC} & {*own} else params | {"metric": "None"}

    def _predict(self, X: Any, options: dict[str, Any], response: Callable[[Array], Array]) -> Array:
        if not (options.get("pred_leaf") or options.get("pred_contrib")):
            return super()._predict(X, options, response)
        values = self._host_predict(X, **options)
        if options.get("pred_leaf"):
            return np.asarray(values)
        # For sparse rows, one sparse matrix per output.
        parts = values if isinstance(values, list) else [values]
        shares = np.hstack([part.toarray() if hasattr(part, "toarray") else part for part in parts])
        by_output = shares.reshape(len(shares), len(self.baseline_), -1) / self.score_conversion().slope
        # The last contribution to an output is the bias.
        by_output[:, :, -1] += self.baseline_
        return np.asarray(by_output.reshape(shares.shape))


class LGBMClassifier(LGBMEstimator, lightgbm.LGBMClassifier):
    __doc__ = f"""{DESCRIPTION(host="lightgbm.LGBMClassifier", task="classification", loss="log_loss")}

    Notes
    -----
    If the loss's link is ``sigmoid(k raw)``, the booster grows on the log-odds ``k raw``, as for LightGBM's own
    logistic loss; ``raw_score=True`` returns ``raw``. Of LightGBM's own metrics, auc and average_precision are
    allowed for two classes; others would ignore the baseline. A callable eval_metric receives probabilities as
    from LightGBM's own objectives: (n,) of the second of two classes, else (n, K).

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.interop import lightgbm as rlgb
    >>> X, y = np.arange(20.0)[:, None], np.repeat([0, 1], 10)
    >>> model = rlgb.LGBMClassifier(loss="exponential", n_estimators=10, min_child_samples=1, verbose=-1).fit(X, y)
    >>> bool((model.predict(X) == y).all())
    True
    """

    task = "classification"
    __metadata_request__predict_proba = routed(lightgbm.LGBMClassifier.predict_proba)

    def __init__(self, *, loss: str | Loss = "log_loss", **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)

    def predict_proba(self, X: Any, **options: Any) -> Array:
        """Class probabilities, (n, K), by the loss's own link; `options` are those of ``predict``."""
        return self._predict(X, options, lambda raw: self.loss_.link.inverse(raw))

    def decision_function(self, X: Any, **kwargs: Any) -> Array:
        """Raw scores: (n,) for two classes, else (n, K); logs of probabilities if the loss has other scores."""
        return decision_values(self._raw(X, **kwargs), len(self.classes_), self.loss_)


class LGBMRegressor(LGBMEstimator, lightgbm.LGBMRegressor):
    __doc__ = f"""{DESCRIPTION(host="lightgbm.LGBMRegressor", task="regression", loss="squared_error")}

    Notes
    -----
    A callable eval_metric receives what ``predict`` returns.

    Examples
    --------
    >>> import numpy as np
    >>> from rffboost_ext.interop import lightgbm as rlgb
    >>> X, y = np.arange(20.0)[:, None], np.repeat([1, 5], 10)
    >>> model = rlgb.LGBMRegressor(loss="poisson", n_estimators=10, min_child_samples=1, verbose=-1).fit(X, y)
    >>> bool((model.predict(X) > 0.0).all())
    True
    """

    task = "regression"

    def __init__(self, *, loss: str | Loss = "squared_error", **kwargs: Any) -> None:
        self.loss = loss
        super().__init__(**kwargs)
