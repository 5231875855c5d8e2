"""Measurements beside other systems; each script prints a table and can write it as JSON."""
