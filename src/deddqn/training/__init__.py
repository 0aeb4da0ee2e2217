"""Algorithm 1: policies are learned by Double-DQN on many runs; beside it, direct search of a policy's parameters."""
