"""Double DQN (van Hasselt et al. 2016) on vectorised DE runs: Algorithm 1 of the paper."""
