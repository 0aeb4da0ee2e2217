"""From stored runs to findings: statistics, tables, curves, and what of the paper reproduces."""
