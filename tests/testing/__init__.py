"""Tests of rffboost_ext.losses."""
