"""Comparisons: plan -> runner -> store -> statistics -> tables, figures, report."""
