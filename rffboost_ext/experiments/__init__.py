"""Comparisons with other systems, and reproductions of published results."""
