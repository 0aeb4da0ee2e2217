"""Runs in the log formats of IOHprofiler and COCO. Each needs its extra."""
