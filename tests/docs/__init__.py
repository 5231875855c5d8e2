"""Tests of documentation, examples and the packaging of the project."""
