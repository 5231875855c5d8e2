"""Tests of rffboost_ext.data."""
