"""Made problems: a world of compiled problems drawn by number, to train, tune and validate on.

==================  ====================================================================================
module              what it is about
==================  ====================================================================================
`base_functions`    published formulas on coordinates whose optimum is 0
`made_objective`    the kernel: shift, plateaus, rotation, oscillation, asymmetry, conditioning, mixtures
`recipes`           what a number stands for: a recipe, drawn; and its data
==================  ====================================================================================
"""
