"""Rows of a fit: data sets, sample weights and sampling."""
