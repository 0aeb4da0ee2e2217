"""The package inside other tools: Gymnasium, Stable-Baselines3, IOHprofiler and COCO. Each needs its extra."""
