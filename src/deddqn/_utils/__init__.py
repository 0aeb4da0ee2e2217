"""Small tools of the whole package: checked input, optional packages, versions, names that are imported lazily."""
