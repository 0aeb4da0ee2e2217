"""Runs as reinforcement-learning environments: Gymnasium and Stable-Baselines3. Each needs its extra."""
