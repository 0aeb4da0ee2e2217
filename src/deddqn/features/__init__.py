"""What a policy sees: the state of Sect. 4.1 and Table 1."""

from deddqn.features.layout import (
    LAYOUT_VERSION,
    PAPER_STATE,
    STATES,
    TABLE_1,
    Block,
    feature_names,
    n_features,
    signed_mask,
)

__all__ = ["LAYOUT_VERSION", "PAPER_STATE", "STATES", "TABLE_1", "Block", "feature_names", "n_features", "signed_mask"]
