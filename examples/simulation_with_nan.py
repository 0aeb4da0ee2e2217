"""Steer a simulation that does not always survive: NaN where it fails, and the search goes around.

A rocket flies in one dimension with three phases of thrust. Too much thrust tears it apart and it never reports a
height (NaN). Failed flights count as the worst value, never enter the population over a good one, and the message
says how many there were. Nothing has to be caught, penalised or scaled.

    python examples/simulation_with_nan.py
"""

import numpy as np

import deddqn

GRAVITY, DRAG, STEP = 9.81, 0.002, 0.05
FUEL, PHASE = 60.0, 2.0  # units of fuel; seconds per phase
LARGEST_LOAD = 35.0  # m/s^2


def peak_height(thrusts):
    """The highest point of a flight, or NaN if the rocket breaks."""
    mass, fuel, speed, height, peak, t = 100.0, FUEL, 0.0, 0.0, 0.0, 0.0
    while speed > 0 or t < PHASE * len(thrusts):
        phase = int(t / PHASE)
        force = thrusts[phase] if phase < len(thrusts) and fuel > 0 else 0.0
        drag = DRAG * speed * abs(speed)
        acceleration = force / mass - GRAVITY - drag
        if abs(force / mass - drag) > LARGEST_LOAD:
            return np.nan
        burnt = min(fuel, force * STEP / 250.0)
        fuel, mass = fuel - burnt, mass - burnt
        speed += acceleration * STEP
        height = max(0.0, height + speed * STEP)
        peak, t = max(peak, height), t + STEP
        if t > 120.0:
            break
    return peak


def main():
    result = deddqn.minimize(lambda x: -peak_height(x), [(0.0, 8000.0)] * 3, maxfun=1500, population_size=30, rng=1)
    print(f"highest flight: {-result.fun:.1f} m, with thrusts {np.round(result.x)} N")
    print(f"{result.non_finite} of {result.nfev} rockets broke")
    print(result.message)
    return result


if __name__ == "__main__":
    main()
