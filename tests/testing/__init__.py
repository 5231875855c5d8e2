"""Tests of rffboost_ext.testing."""
