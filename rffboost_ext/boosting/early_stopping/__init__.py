"""Early stopping: the validation split, the monitored error, patience, and the stacking of models."""
