"""Whether terms that were read from a file are safe to evaluate; see :mod:`rffboost_ext.terms.sound`."""

from rffboost_ext.terms.sound import check_sound, require_range, require_shape

__all__ = ["check_sound", "require_range", "require_shape"]
