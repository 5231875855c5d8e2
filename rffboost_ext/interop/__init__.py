"""A plugin to XGBoost and LightGBM: our losses and cosines inside their loops, their models in ours.

    from rffboost_ext.interop import xgboost as rxgb, lightgbm as rlgb

Each module needs the library that it is named after, and loads it when it is imported.
"""
