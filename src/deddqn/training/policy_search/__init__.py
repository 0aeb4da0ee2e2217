"""Direct policy search: CMA-ES (Hansen 2016) over the weights of a softmax policy."""
