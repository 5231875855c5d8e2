"""Tests of rffboost_ext/contracts."""
