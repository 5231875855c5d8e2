"""Rows that do not fit in memory: a fit reads them part by part and keeps a sample."""
