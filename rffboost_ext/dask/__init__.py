"""Estimators for the arrays and tables of a Dask cluster."""
