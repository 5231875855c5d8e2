"""XGBoost's trees as a learner, and XGBoost's model format."""
