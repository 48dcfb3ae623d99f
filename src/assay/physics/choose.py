"""Which conditions can be built into the network, and which stay terms of the loss."""

import dataclasses

import numpy as np

from assay.errors import StudyError
from assay.physics.derivatives import derivatives
from assay.physics.faces import Bound
from assay.physics.hard import FaceSet, FieldPlan, Frame, _left_over

TOLERANCE = 1e-7  # of the size of the field, for values that meet at an edge of the box
LOOKS = 17


def plan_conditions(problem, frame: Frame, sizes: dict, conditions: str = "auto"):
    """Return what is built into each field, and what is not.

    Parameters
    ----------
    problem : Problem
    frame : Frame
        Of float64 arrays.
    sizes : dict of str to float
        Of the fields, for the tolerance.
    conditions : {"auto", "hard", "soft"}
        "auto" builds in what can be; "hard" refuses a declaration of which a part cannot; "soft"
        builds in nothing, and ends that are periodic agree by terms of the loss.

    Returns
    -------
    plans : tuple of FieldPlan, one a field
    soft : tuple of (Bound, reason)
        Conditions that stay terms of the loss; the reason is a sentence.

    Raises
    ------
    StudyError
        For "hard" where something has to stay soft.
    """
    if conditions not in ("auto", "hard", "soft"):
        raise StudyError(
            f"`conditions` must be 'auto', 'hard' or 'soft', got {conditions!r}.", hint="'auto'"
        )
    variables = problem.space.variables
    if conditions == "soft":
        plans = tuple(FieldPlan(field, variables) for field in problem.fields)
        every = (*problem.faces, *problem.joints)
        return plans, tuple((face, "As asked for.") for face in every)
    plans, built = [], set()
    reasons = {}
    for field in problem.fields:
        sets = []
        order = sorted(range(len(variables)), key=lambda i: variables[i] != problem.time)
        for place in order:
            one, why = _set_of(problem, field, place)
            reasons.update(why)
            if one is None:
                continue
            clash = _clash(problem, field, sets, one, frame, sizes[field])
            if clash:
                reasons.update({b.label: clash for b, _, _ in one.bounds})
                continue
            sets.append(one)
            built |= {b.label for b, _, _ in one.bounds}
        plans.append(FieldPlan(field, variables, tuple(sets)))
    soft = tuple((f, reasons[f.label]) for f in problem.faces if f.label not in built)
    if conditions == "hard" and soft:
        raise StudyError(
            f"{soft[0][0].label} cannot be built in: {soft[0][1]}",
            hint="conditions='auto' keeps it as a term of the loss.",
        )
    return tuple(plans), soft


def _set_of(problem, field, place):
    """Return what of a field can be built in along a variable, and why the rest cannot."""
    variable = problem.space.variables[place]
    sides, why = {"low": {}, "high": {}}, {}
    for face in problem.faces:
        if face.along != variable:
            continue
        if face.name is None:
            why[face.label] = "It is an equation, not a value."
        elif face.keys[0][0] != field:
            continue
        elif face.end == "inside":
            why[face.label] = "It lies inside the box."
        else:
            orders = face.keys[0][1]
            if sum(orders) != orders[place]:
                why[face.label] = "It is a derivative along the face."
            else:
                sides[face.end][orders[place]] = face
    kept = {}
    for end, given in sides.items():
        count = 0
        while count in given:
            count += 1
        kept[end] = tuple(given[i] for i in range(count))
        for order, face in given.items():
            if order >= count:
                why[face.label] = "It prescribes a derivative, but not the value itself."
    if not kept["low"] and not kept["high"]:
        return None, why
    saturating = variable == problem.time and not kept["high"] and len(kept["low"]) <= 3
    return FaceSet(place, kept["low"], kept["high"], saturating), why


def _clash(problem, field, sets, one, frame, size):
    """Return why a set of conditions cannot join those before it, or an empty text.

    What it would add must vanish where the earlier ones hold: at the edges the values must agree.
    """
    import jax

    if not sets:
        return ""
    meetings = tuple(
        _Meeting(one, bound, end, order, earlier, *other)
        for bound, end, order in one.bounds
        for earlier in sets
        for other in earlier.bounds
    )
    plan = FieldPlan(field, problem.space.variables)
    low, high = np.asarray(frame.low), np.asarray(frame.high)
    points = np.random.default_rng(0).uniform(low, high, (LOOKS, len(low)))

    def all_left(points):
        return [jax.vmap(meeting.left(plan, sets, frame))(points) for meeting in meetings]

    with jax.enable_x64(True):  # noqa: FBT003
        found = jax.jit(all_left)(points)
    for meeting, left in zip(meetings, found, strict=True):
        worst = float(np.max(np.abs(np.asarray(left))))
        if not worst * meeting.reach(high - low) <= TOLERANCE * size:
            return f"It contradicts {meeting.other.label} where they meet (by {worst:.2g})."
    return ""


@dataclasses.dataclass(frozen=True)
class _Meeting:
    """Two conditions on faces that share an edge."""

    one: FaceSet
    bound: Bound
    end: int
    order: int
    earlier: FaceSet
    other: Bound
    other_end: int
    other_order: int

    def left(self, plan, sets, frame):
        """Return a function of a point: what is left to correct at the edge beside it."""
        n, here, there = len(plan.variables), self.one.place, self.earlier.place
        orders = tuple(self.other_order if i == there else 0 for i in range(n))

        def rest(at):
            edge = (frame.high if self.end else frame.low)[here]
            on_face = at.at[here].set(edge)
            return _left_over(plan, sets, frame, on_face, self.one, self.bound, self.order)

        def at_edge(point):
            edge = (frame.high if self.other_end else frame.low)[there]
            return derivatives(rest, point.at[there].set(edge), [orders])[orders]

        return at_edge

    def reach(self, lengths):
        """Return what turns a difference into units of the field."""
        first = lengths[self.one.place] ** self.order
        return first * lengths[self.earlier.place] ** self.other_order
