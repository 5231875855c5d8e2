"""The tables and figures of the three papers, measured again beside their published values.

The command ``rffboost reproduce``; its targets are in :data:`rffboost_ext.experiments.reproduce.targets.TARGETS`.
"""
