"""A package, so that `tests.reference` is ours: ioh installs a package of the same name."""
