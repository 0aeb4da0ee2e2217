"""Local search by BFGS with finite differences: the last part of a run, from the best point so far.

J. Nocedal, S. J. Wright, "Numerical optimization", 2nd edition, 2006: the update of H is (6.17), scaled at first by
(6.20); a step is accepted by (3.4), backtracking interpolates by a parabola. Coordinates on a bound that the slope
leads out of stay there, and points beyond bounds are put onto them.

The forward differences have one length, so that their error is the same in both slopes from which H learns. Where
nothing slopes, or no point on a line is better, they become shorter, and if that does not help, H is forgotten; when
they are too short, the local search is over, and who searched before resumes with the evaluations that are left.

A gradient, or a point on a line, is to the loop what a new population is: nobody decides anything while it is
evaluated. The population of DE waits meanwhile.
"""

from __future__ import annotations

import math

from deddqn._jit import copy, fill, kernel
from deddqn.de.cma_es import (
    keep_waiting_population,
    resume_population,
    return_population,
    sample_population,
)
from deddqn.de.local_state import Local, Phase
from deddqn.de.state import Counter, Scalar

SUFFICIENT = 1e-4  # of the decrease that the slope promises: c_1 of (3.4)
SHORTEST, LONGEST = 0.05, 10.0  # factors from one step on a line to the next
FAR = 0.1  # ... from a point without a value
MOST_TRIES = 10  # points on a line
FIRST_SPACING, CLOSER, SMALLEST_SPACING = 1e-7, 0.01, 1e-12  # of differences, in widths of the box
FIRST_STEPS = 1e4  # root mean square of the first step on a line while H is that of the box, in differences
NEAR = 0.25  # relative difference of steps that is not worth another point
CURVED = 1e-12  # cosine of step and change of the gradient, above which H learns from them
FLAT = 1e-14  # of the value: what is gained less is rounding


@kernel
def is_time_for_local_search(de_state):
    """True once, when the share of the local search begins, if there is a point to begin from and room for a step."""
    counters = de_state.counters
    if counters[Counter.LOCAL_DONE] or counters[Counter.EVALUATIONS] < counters[Counter.LOCAL_FROM]:
        return False
    return de_state.scalars[Scalar.F_BSF] < math.inf and has_room(de_state)


@kernel
def has_room(de_state):
    """True where a gradient and a point on a line are left in the budget."""
    counters = de_state.counters
    return counters[Counter.WHOLE_BUDGET] - counters[Counter.EVALUATIONS] > de_state.local_point.size


@kernel
def begin_local_search(de_state):
    """Let the local search begin from the best point; the population of DE is kept."""
    counters, local = de_state.counters, de_state.local
    if not counters[Counter.SAMPLING]:
        keep_waiting_population(de_state)
    counters[Counter.LOCAL_DONE] = 1
    counters[Counter.INITIALISED] = 0
    if de_state.local_point.size > counters[Counter.ALLOCATED]:  # points take the rows of the archive
        counters[Counter.ARCHIVED] = 0
    copy(de_state.best_point, de_state.local_point)
    local[Local.VALUE] = de_state.scalars[Scalar.F_BSF]
    local[Local.SPACING] = FIRST_SPACING
    forget_metric(de_state)
    ask_gradient(de_state)


@kernel
def continue_local_search(de_state):
    """Learn from the points that were evaluated, and ask for the next; or end."""
    if de_state.counters[Counter.LOCAL_PHASE] == Phase.GRADIENT:
        learn_gradient(de_state)
    else:
        learn_point(de_state)


@kernel
def leave_local_search(de_state):
    """End it before its time: the whole population of DE is back; CMA-ES has to sample again."""
    de_state.counters[Counter.LOCAL_PHASE] = Phase.NONE
    if not de_state.counters[Counter.SAMPLING]:
        return_population(de_state)


@kernel
def end_local_search(de_state):
    """Let who searched before resume."""
    de_state.counters[Counter.LOCAL_PHASE] = Phase.NONE
    if de_state.counters[Counter.SAMPLING]:
        sample_population(de_state)
    else:
        resume_population(de_state)


@kernel
def close_local_search(de_state):
    """The run ends within the local search: its population is that of DE, or a single point where CMA-ES searched."""
    counters = de_state.counters
    counters[Counter.LOCAL_PHASE] = Phase.NONE
    if counters[Counter.SAMPLING]:
        show_best_point(de_state)
    else:
        resume_population(de_state)


@kernel
def show_best_point(de_state):
    """Let the best point be all of the population; some point without a value where there is none."""
    counters = de_state.counters
    counters[Counter.POPULATION], counters[Counter.BEST] = 1, 0
    de_state.order[0], de_state.fitness[0] = 0, de_state.scalars[Scalar.F_BSF]
    if de_state.scalars[Scalar.F_BSF] < math.inf:
        copy(de_state.best_point, de_state.parents[0])


@kernel
def include_best_point(de_state):
    """Let the best point, if a local search has found it, take the place of the best individual."""
    best = 0
    for i in range(1, de_state.counters[Counter.POPULATION]):
        best = i if de_state.fitness[i] < de_state.fitness[best] else best
    if de_state.scalars[Scalar.F_BSF] < de_state.fitness[best]:
        de_state.fitness[best] = de_state.scalars[Scalar.F_BSF]
        copy(de_state.best_point, de_state.parents[best])


@kernel
def forget_metric(de_state):
    """H becomes that of the box: as far in widths along every coordinate."""
    metric = de_state.local_metric
    for d in range(len(metric)):
        fill(metric[d], 0.0)
        width = de_state.upper[d] - de_state.lower[d]
        metric[d, d] = width * width
    de_state.local[Local.FRESH] = 1.0
    de_state.local[Local.MOVED] = 0.0


@kernel
def ask_gradient(de_state):
    """Let the points beside x be evaluated next, one per coordinate."""
    counters, point = de_state.counters, de_state.local_point
    if not has_room(de_state):
        end_local_search(de_state)
        return
    counters[Counter.LOCAL_PHASE] = Phase.GRADIENT
    counters[Counter.POPULATION] = point.size
    spacing = de_state.local[Local.SPACING]
    for d in range(point.size):
        copy(point, de_state.parents[d])
        distance = spacing * (de_state.upper[d] - de_state.lower[d])
        beyond = point[d] + distance > de_state.search_upper[d]
        de_state.parents[d, d] = point[d] - distance if beyond else point[d] + distance
    prepare_points(de_state)


@kernel
def prepare_points(de_state):
    """The points that are evaluated next have no values yet."""
    for i in range(de_state.counters[Counter.POPULATION]):
        de_state.fitness[i] = math.inf
        de_state.order[i] = i
    de_state.counters[Counter.BEST] = 0


@kernel
def learn_gradient(de_state):
    """The gradient at x, by the values beside it; H learns from its change, if x has moved; then the next line."""
    local, point = de_state.local, de_state.local_point
    gradient, change = de_state.local_gradient, de_state.local_change
    for d in range(point.size):
        distance = de_state.parents[d, d] - point[d]
        slope = (de_state.fitness[d] - local[Local.VALUE]) / distance if distance != 0.0 else 0.0
        slope = slope if math.isfinite(slope) else 0.0
        change[d] = slope - gradient[d] if de_state.local_direction[d] != 0.0 else 0.0
        gradient[d] = slope
    if local[Local.MOVED]:
        update_metric(de_state)
    if aim(de_state):
        ask_point(de_state)
    else:
        look_closer(de_state)


@kernel
def update_metric(de_state):
    """H <- (I - r s y') H (I - r y s') + r s s' with step s, change of the gradient y and r = 1 / s'y: (6.17)."""
    metric, step, change = de_state.local_metric, de_state.local_moved, de_state.local_change
    image = de_state.local_direction  # H y; the next line is not drawn yet
    curvature = length = other = 0.0
    for d in range(step.size):
        curvature += step[d] * change[d]
        length += step[d] * step[d]
        other += change[d] * change[d]
    if not CURVED * math.sqrt(length) * math.sqrt(other) < curvature < math.inf:
        return
    multiply_metric(metric, change, image)
    spread = 0.0
    for d in range(step.size):
        spread += change[d] * image[d]
    if de_state.local[Local.FRESH]:  # (6.20)
        scale = curvature / spread
        for d in range(step.size):
            image[d] *= scale
            for e in range(step.size):
                metric[d, e] *= scale
        spread *= scale
        de_state.local[Local.FRESH] = 0.0
    weight = (1.0 + spread / curvature) / curvature
    for d in range(step.size):
        for e in range(step.size):
            metric[d, e] += weight * step[d] * step[e] - (image[d] * step[e] + step[d] * image[e]) / curvature


@kernel
def multiply_metric(metric, vector, product):
    """Write H `vector` into `product`."""
    for d in range(product.size):
        row, total = metric[d], 0.0
        for e in range(product.size):
            total += row[e] * vector[e]
        product[d] = total


@kernel
def aim(de_state):
    """Draw the line on which the next points lie; False where nothing slopes."""
    local = de_state.local
    local[Local.SLOPE] = draw_line(de_state)
    if not -math.inf < local[Local.SLOPE] < 0.0:
        forget_metric(de_state)
        local[Local.SLOPE] = draw_line(de_state)
    if not -math.inf < local[Local.SLOPE] < 0.0:
        return False
    if local[Local.FRESH]:  # -slope is the squared length in widths
        size = float(de_state.local_point.size)
        scale = FIRST_STEPS * local[Local.SPACING] * math.sqrt(size) / math.sqrt(-local[Local.SLOPE])
        for d in range(de_state.local_point.size):
            de_state.local_direction[d] *= scale
        local[Local.SLOPE] *= scale
    local[Local.STEP] = 1.0
    local[Local.TRIES] = local[Local.BEST_STEP] = 0.0
    local[Local.BEST_VALUE] = local[Local.VALUE]
    return True


@kernel
def draw_line(de_state):
    """Write -H g into the direction, without the coordinates that would leave the box at once; return its slope."""
    point, gradient, direction = de_state.local_point, de_state.local_gradient, de_state.local_direction
    free = de_state.local_change  # the gradient without those coordinates
    for d in range(point.size):
        held = (point[d] <= de_state.search_lower[d] and gradient[d] > 0.0) or (
            point[d] >= de_state.search_upper[d] and gradient[d] < 0.0
        )
        free[d] = 0.0 if held else -gradient[d]
    multiply_metric(de_state.local_metric, free, direction)
    slope = 0.0
    for d in range(point.size):
        if free[d] == 0.0:
            direction[d] = 0.0
        slope -= free[d] * direction[d]
    return slope


@kernel
def ask_point(de_state):
    """Let the point at the present step on the line be evaluated next."""
    counters, point, local = de_state.counters, de_state.parents[0], de_state.local
    counters[Counter.LOCAL_PHASE] = Phase.LINE
    counters[Counter.POPULATION] = 1
    for d in range(point.size):
        value = de_state.local_point[d] + local[Local.STEP] * de_state.local_direction[d]
        value = min(max(value, de_state.search_lower[d]), de_state.search_upper[d])
        point[d] = value if math.isfinite(value) else de_state.local_point[d]
    prepare_points(de_state)


@kernel
def learn_point(de_state):
    """Accept the point on the line or not, and try the lowest point of a parabola; or go where the best one is.

    Lines are searched well, for a gradient costs as many evaluations as there are coordinates.
    """
    local, value = de_state.local, de_state.fitness[0]
    local[Local.TRIES] += 1.0
    step, promised, gain = local[Local.STEP], local[Local.STEP] * local[Local.SLOPE], value - local[Local.VALUE]
    first = local[Local.BEST_STEP] == 0.0
    accepted = value < local[Local.BEST_VALUE] and not (first and gain > SUFFICIENT * promised)
    if accepted:
        local[Local.BEST_VALUE], local[Local.BEST_STEP] = value, step
        copy(de_state.parents[0], de_state.local_best)
    local[Local.STEP] = lowest_step(step, promised, gain)
    near = accepted and abs(local[Local.STEP] - step) <= NEAR * step
    if (accepted or first) and not near and local[Local.TRIES] < MOST_TRIES:
        ask_point(de_state)
    else:
        move(de_state)


@kernel
def lowest_step(step, promised, gain):
    """The lowest point of the parabola through x with its slope and the last point, as far as that can be trusted."""
    if not (gain < math.inf and promised > -math.inf):
        return FAR * step
    bent = gain - promised
    lowest = -0.5 * promised * step / bent if bent > 0.0 else LONGEST * step
    return min(max(lowest, SHORTEST * step), LONGEST * step)


@kernel
def move(de_state):
    """Go to the best point of the line; where there is none, or next to nothing is gained, look closer."""
    local, point = de_state.local, de_state.local_point
    gained = local[Local.VALUE] - local[Local.BEST_VALUE]
    if local[Local.BEST_STEP] > 0.0:
        for d in range(point.size):
            de_state.local_moved[d] = de_state.local_best[d] - point[d]
        copy(de_state.local_best, point)
        local[Local.VALUE] = local[Local.BEST_VALUE]
        local[Local.MOVED] = 1.0
    if gained > FLAT * abs(local[Local.VALUE]):
        ask_gradient(de_state)
    else:
        look_closer(de_state)


@kernel
def look_closer(de_state):
    """Measure the slope at x again with smaller differences; or end, where they are too small already.

    H is kept the first time: it is the slope that is wrong where differences are long beside what is left of the way.
    """
    local = de_state.local
    if not local[Local.MOVED]:
        forget_metric(de_state)
    local[Local.MOVED] = 0.0
    local[Local.SPACING] *= CLOSER
    if local[Local.SPACING] < SMALLEST_SPACING:
        end_local_search(de_state)
    else:
        ask_gradient(de_state)
