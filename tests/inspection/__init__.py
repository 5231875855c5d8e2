"""Tests of rffboost_ext.inspection."""
