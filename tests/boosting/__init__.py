"""Tests of rffboost_ext.boosting."""
