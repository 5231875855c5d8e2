"""Names of estimators in messages are those of the package."""

from __future__ import annotations

import rffboost_ext
from rffboost_ext.estimators.base import BaseRFFBoost
from rffboost_ext.utils.estimator_names import BOOSTERS, one_of


def test_messages_name_every_booster() -> None:
    public = [getattr(rffboost_ext, name) for name in rffboost_ext.__all__]
    assert set(BOOSTERS) == {
        one.__name__ for one in public if isinstance(one, type) and issubclass(one, BaseRFFBoost)
    }
    assert one_of("Ensemble").endswith(f"{BOOSTERS[-1]} or Ensemble")
