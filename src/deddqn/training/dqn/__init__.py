"""Double-DQN on many runs side by side (Algorithm 1)."""
