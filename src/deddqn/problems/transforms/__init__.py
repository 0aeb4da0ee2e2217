"""Transformed problems: the same functions ill-conditioned or with plateaus, for training and validation."""
