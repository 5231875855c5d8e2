"""From any container in memory to the rows of a fit: columns, categories, missing values, targets, weights."""
