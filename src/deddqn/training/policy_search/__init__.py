"""Direct policy search: CMA-ES over the weights of a softmax policy."""
