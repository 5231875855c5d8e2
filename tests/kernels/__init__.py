"""Tests of rffboost_ext.kernels."""
