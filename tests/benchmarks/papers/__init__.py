"""Tests of the papers' methods, tables and figures."""
