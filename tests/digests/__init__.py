"""Digests of whole runs: what must not change by a bit when only names, places or the way of compiling change.

``python -m tests.digests`` compares with the stored ones (`recorded.json`), ``--write`` stores new ones.
"""
