"""Losses and cosines in the training loops of XGBoost and LightGBM, and their models as ensembles.

    from rffboost_ext.interop import xgboost as rxgb, lightgbm as rlgb

Each module imports the library of its name.
"""
