"""CEC2005: the 25 functions of Suganthan et al. (2005), exact, in double precision, compiled.

`load` returns the `Definition` of a function at D = 2, 10, 30 or 50: a compiled kernel, its data, its box and
its optimum. The data come from optproblems 1.3 (BSD-3; see NOTICE.txt).
"""

from deddqn.problems.cec2005.definitions import DIMENSIONS, TABLE, TEST, TRAIN, Definition, load

__all__ = ["DIMENSIONS", "TABLE", "TEST", "TRAIN", "Definition", "load"]
