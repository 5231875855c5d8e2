"""Our losses and cosines in the training loops of XGBoost and LightGBM, and their models as our ensembles.

    from rffboost_ext.interop import xgboost as rxgb, lightgbm as rlgb

Each module needs the library that it is named after, and imports it.
"""
