"""The method of lines: points in space, SciPy in time, finer until the answer stands still."""

import dataclasses
import itertools
import time
from typing import Any

import numpy as np

from assay.errors import StudyError
from assay.physics.axes import (
    Density,
    chebyshev,
    density_of,
    even_density,
    fourier,
    graded,
    graded_nodes,
    roughness,
)
from assay.physics.clock import used
from assay.physics.direction import runs_away
from assay.physics.explicit import compiled, require_known_coefficients
from assay.physics.forcing import stretches_of
from assay.physics.marching import SMALLEST, OutOfTime, is_stiff, march, stiffness
from assay.physics.refining import refined, single, table_of
from assay.physics.semidiscrete import System, layout_of
from assay.physics.solution import Solution

# Points along each variable of space and the tolerance of one step in time, level by level.
SPECTRAL = (
    (16, 1e-6),
    (24, 1e-7),
    (32, 1e-9),
    (48, 1e-11),
    (64, 1e-12),
    (96, 1e-12),
    (128, 1e-13),
    (192, 1e-13),
    (256, 1e-13),
    (384, 1e-13),
)
GRADED = ((150, 1e-5), (300, 3e-7), (600, 1e-8), (1200, 3e-10), (2400, 1e-11), (4800, 3e-13))
# A probe with this many points decides: rougher than this, and points go where they are needed.
PROBE, ROUGH = 32, 3e-3
PILOT = 201


def is_evolution(problem: Any) -> bool:
    """Whether a problem has time, one or two variables of space, and a start."""
    return (
        problem.time is not None
        and len(problem.box) > 1
        and all(problem.order_in_time[field] for field in problem.fields)
    )


def solve_lines(
    problem: Any,
    parameters: dict[str, float],
    *,
    tolerance: float = 1e-6,
    seconds: float = 60.0,
    level: int | None = None,
) -> Solution:
    """Solve an evolution equation in one or two variables of space.

    Smooth solutions are taken on Chebyshev points (Fourier points on a ring). Where a short probe
    shows a front or layer that those do not resolve, finite differences of sixth order take over,
    on points that are dense where any time needs them.

    Parameters
    ----------
    problem : Problem
    parameters : dict of str to float
    tolerance : float > 0 [-]
        Wanted relative L2 error.
    seconds : float > 0 [s]
        Budget.
    level : int, optional
        0 to 5: one solve on one level.

    Raises
    ------
    StudyError
        For conditions that the method does not take, or a solution that runs away.
    """
    import jax

    begun, clock = used(), time.perf_counter()
    require_known_coefficients(problem)
    with jax.enable_x64(True):  # noqa: FBT003
        away = compiled(problem, "runs away", lambda: runs_away(problem, parameters))
        if away is not None:
            raise StudyError(away[0], hint=away[1])
        work = _Work(problem, parameters)
        way = work.choose(begun + seconds / 4)
        if level is not None:
            sizes = SPECTRAL if way == "spectral" else GRADED
            if not 0 <= level < len(sizes):
                raise StudyError(
                    f"`level` must lie between 0 and {len(sizes) - 1}, got {level}.",
                    hint="Higher levels are finer.",
                )
            return single(problem, work.solver(way), sizes[level], seconds=seconds)
        options = {"tolerance": tolerance, "begun": begun, "notes": work.notes}
        if way == "graded":
            return refined(problem, work.solver("graded"), GRADED, seconds=seconds, **options)
        smooth = refined(problem, work.solver("spectral"), SPECTRAL[1:], seconds=seconds, **options)
        left = begun + seconds - used()
        if smooth.trusted or len(work.spaces) > 1 or left < 0.3 * seconds:
            return smooth
        work.grade(begun + seconds)
        options["notes"] = work.notes
        other = refined(problem, work.solver("graded"), GRADED, seconds=seconds, **options)
        spent = time.perf_counter() - clock
        return dataclasses.replace(min(smooth, other, key=lambda s: s.error), seconds=spent)


class _Work:
    """What the levels of one problem share: the choice of points, sizes of the fields, notes."""

    def __init__(self, problem, parameters):
        self.problem, self.parameters = problem, parameters
        self.spaces = tuple(name for name in problem.box if name != problem.time)
        self.orders = {
            name: max(
                1,
                *(problem.highest(field, name) for field in problem.fields),
                *(
                    key[1][problem.space.variables.index(name)]
                    for face in problem.faces
                    for key in face.keys
                ),
            )
            for name in self.spaces
        }
        # Where nothing is differentiated, each point is by itself and there is no ring to close.
        self.rings = tuple(
            name
            for name in problem.periodic
            if any(problem.highest(field, name) for field in problem.fields)
        )
        # One-sided differences are calmer on denser points; a kink in a ring needs many.
        self.denser = 40.0 if self.rings else 4.0
        self.density: Density | None = None
        self.notes: tuple[str, ...] = ()
        self.scale: dict = {}
        self.stretches = stretches_of(problem, problem.time, parameters)

    def choose(self, deadline):
        """Return "spectral" or "graded", from a short probe on few points."""
        if len(self.spaces) > 1:
            return "spectral"
        ring = self.spaces[0] in self.rings
        try:
            axes, _, values, _ = self.run("spectral", 2 * PROBE if ring else PROBE, 1e-4, deadline)
            lines = np.moveaxis(values, 1, 0).reshape(len(axes[0].nodes), -1)
            rough = roughness(axes[0], lines)
        except (StudyError, OutOfTime):
            rough = 1.0
        smooth = rough < 0.3 and not self._has_kink() if ring else rough < ROUGH
        # A ring can be closed by conditions only where as many belong to either end.
        if smooth or (ring and self.orders[self.spaces[0]] % 2):
            return "spectral"
        self.grade(deadline)
        return "graded"

    def _has_kink(self):
        """Whether the start does not close smoothly on the ring: its spectrum has a long tail."""
        import jax

        (name,) = self.spaces
        low, high = self.problem.box[name]
        places = low + (high - low) * np.arange(512) / 512
        for face in self.problem.faces:
            if face.along == self.problem.time:
                values = jax.jit(jax.vmap(lambda x, face=face: face.value({name: x}) + 0.0 * x))
                tail = np.abs(np.fft.rfft(np.asarray(values(places))))
                if tail[200:].max() > 1e-8 * (tail.max() or 1.0):
                    return True
        return False

    def grade(self, deadline):
        """Find out on pilot grids where points are needed."""
        (name,) = self.spaces
        self.density = even_density(self.problem.box[name], self.denser)
        for _ in range(2):
            try:
                axes, _, values, _ = self.run("graded", PILOT, 1e-4, deadline)
            except (StudyError, OutOfTime):
                return
            self.density = density_of(axes[0].nodes, _need(axes[0], values), self.denser)
        self.notes += (f"points are denser where the solution bends in {name}",)

    def axes(self, way, n):
        """Return the points along each variable of space."""
        made = []
        for name in self.spaces:
            ends, highest = self.problem.box[name], self.orders[name]
            if way == "graded":
                made.append(graded(name, ends, graded_nodes(ends, self.density, n), highest))
            elif name in self.rings:
                made.append(fourier(name, ends, n + n % 2, highest))
            else:
                made.append(chebyshev(name, ends, n + 1, highest))
        return tuple(made)

    def run(self, way, n, step_tolerance, deadline):
        """Return (axes, track, values on the grid at all times, system)."""
        problem, parameters = self.problem, self.parameters
        axes = self.axes(way, n)
        closed = tuple(a.name for a in axes if a.kind == "graded" and a.name in self.rings)
        system = System(problem, layout_of(problem, closed), axes)
        slope, fields = system.compiled()
        start = system.start()
        span = problem.box[problem.time]
        scale = self._scale(system, start)

        def right(t, y):
            return slope(t, y, parameters)

        track = march(
            right,
            start,
            span,
            tolerance=step_tolerance,
            scale=scale,
            deadline=deadline,
            choose=lambda t, y: _solver(system, right, t, y, span, scale),
            stretches=self.stretches,
        )
        largest = np.abs(track.states).max(initial=SMALLEST)
        for i, entry in enumerate(system.entries):
            mine = np.abs(track.states[:, system.entry == i])
            self.scale[entry] = max(float(mine.max(initial=0.0)), 1e-12 * float(largest))
        values = fields(track.times, track.states, parameters)
        if closed:  # the conditions hold from then on, but the start is as it was declared
            values[0] = system.start_on_grid()
        return axes, track, values, system

    def _scale(self, system, start):
        sizes, largest = np.empty(system.size), float(np.abs(start).max(initial=0.0))
        for i, entry in enumerate(system.entries):
            mine = system.entry == i
            first = float(np.abs(start[mine]).max(initial=0.0))
            sizes[mine] = self.scale.get(entry, first or 1e-3 * (largest or 1.0))
        return sizes

    def solver(self, way):
        """Return what `refined` needs: (size, deadline) -> (table, method, n)."""

        def solve(size, deadline):
            n, step_tolerance = size
            axes, track, values, _ = self.run(way, n, step_tolerance, deadline)
            degrees = []
            for i, axis in enumerate(axes):
                if axis.blend is not None:
                    values = np.moveaxis(np.tensordot(axis.blend, values, (1, i + 1)), 0, i + 1)
                degrees.append(7 if axis.blend is not None else 5)
            place = self.problem.space.variables.index(self.problem.time)
            nodes, degrees = [axis.finer for axis in axes], degrees
            nodes.insert(place, track.times)
            degrees.insert(place, track.degree)
            table = table_of(
                tuple(nodes),
                np.moveaxis(values, 0, place),
                tuple(degrees),
                place if track.by_steps else None,
            )
            points = ", ".join(f"{len(a.nodes)} {a.kind} points in {a.name}" for a in axes)
            return table, f"method of lines, {points}, {track.method}", n

        return solve


def _solver(system, right, t, state, span, scale):
    """Return the SciPy solver for a system in a state, and its options."""
    size, decay = stiffness(right, t, state, scale)
    if not is_stiff(size, span[1] - span[0]):
        return "DOP853", {}
    if decay < -0.5 and (system.band is not None or system.size <= 1200):
        band = system.band
        return "LSODA", {} if band is None else {"lband": band, "uband": band}
    if system.axes[0].is_dense:
        return "Radau", {}
    return "Radau", {"jac_sparsity": _sparsity(system)}


def _sparsity(system):
    """Return which values each slope can depend on, for points in one variable."""
    from scipy.sparse import csr_matrix

    n, index = len(system.axes[0].nodes), system.axes[0].operators[0][0]
    near = np.zeros((n, n), bool)
    near[np.arange(n)[:, None], index] = True
    if system.layout.closed:  # both ends follow from the points next to both
        ends = near[0] | near[-1]
        near[near[:, 0] | near[:, -1]] |= ends
    else:
        for end in (0, -1):
            near[near[:, end]] |= near[end]
    return csr_matrix(near[np.ix_(system.place, system.place)])


def _need(axis, values):
    """Return how fast the fields bend at each point: the largest over time, (n,) in 1 / unit."""
    index, weights = axis.operators[min(2, len(axis.operators) - 1)]
    need = np.zeros(len(axis.nodes))
    for field, time_chunk in itertools.product(
        range(values.shape[-1]), np.array_split(values, max(1, len(values) // 200))
    ):
        lines = time_chunk[..., field]
        bend = np.abs(np.einsum("tnw,nw->tn", lines[:, index], weights)).max(axis=0)
        reach = float(np.ptp(values[..., field])) or 1.0
        power = 1.0 / min(2, len(axis.operators) - 1)
        need = np.maximum(need, (bend / reach) ** power)
    return need
