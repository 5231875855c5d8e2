"""XGBoost's trees as a learner, and its model format."""
