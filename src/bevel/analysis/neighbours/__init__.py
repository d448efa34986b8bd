"""A forest as weights of its training rows: proximity, prototypes, outliers, imputation."""
