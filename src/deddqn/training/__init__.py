"""Training of policies: Double DQN (Algorithm 1 of the paper), and direct policy search with CMA-ES."""
