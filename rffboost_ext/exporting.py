# ruff: noqa: F401 - names for exporters
"""What exporters of fitted models, such as :mod:`onnx_export`, need in addition to estimators, losses and terms.

Tables and categories as the estimators read them, models of XGBoost and LightGBM as ensembles, files, and checks
of arguments.
"""

from .estimators.base import BaseRFFBoost
from .interop.host import HostModel
from .interop.links import XGBOOST
from .interop.models import raw_ensemble, read_model
from .interop.score_conversion import as_columns
from .interop.xgboost_host import dense_with_nan
from .losses.links import HingeLink, OneVsRestLink, RankingLink, SignedSquareLink, SoftplusLink
from .rows.category_encoding import CategoryEncoding, category_lists
from .rows.columns import is_missing
from .rows.row_arguments import check_base_margin, require_base_margin
from .rows.tables import (
    as_numbers,
    categorical_columns,
    column_names,
    column_values,
    is_table,
    native_table,
    number_columns,
    read_table,
    with_underscores,
)
from .rows.targets import squeeze
from .utils.files import check_path, require_regular, resolve_target, write_atomically
from .utils.packages import require_packages
from .utils.parallel import count_threads
from .utils.param_validation import THREADS, Integer, OneOf, check_metadata, require
from .utils.pipelines import final_estimator
from .utils.typing import Array
