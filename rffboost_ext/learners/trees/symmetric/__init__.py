"""Symmetric (oblivious) trees as a learner: bins, growth, leaves."""
