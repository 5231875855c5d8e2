"""Tests of rffboost_ext.utils."""
