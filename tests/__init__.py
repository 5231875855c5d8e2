"""Tests: a file per property, parametrised over the registries by ``cases.py``."""
