"""The other methods of the papers; their public names are in :mod:`rffboost_ext.baselines`."""
