"""Tests of rffboost_ext.rows."""
