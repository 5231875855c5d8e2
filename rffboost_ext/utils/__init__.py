"""Shared tools: parameter validation, registries, threads, files, warnings."""
