"""From tables to numbers: features, categories, missing values, scaling and targets."""
