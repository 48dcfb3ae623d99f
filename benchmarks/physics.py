"""Physics-informed networks: an eager PyTorch loop and DeepXDE beside Assay."""

from harness import HEAD, in_turns, ratio, row

TITLE = "Physics"


def section(ours, peer, *, quick):
    """Measure, and return the section as lines of Markdown."""
    steps, limit, threads = (500, 60, (1,)) if quick else (7_500, 600, (1, 2))
    sides = {
        "adam": (ours, "physics_ours.py", ("adam", 2_000)),
        "oscillator": (ours, "physics_ours.py", ("oscillator", 0)),
        "burgers": (ours, "physics_ours.py", ("burgers", 120)),
        "torch": (peer, "physics_torch.py", (steps,)),
        "deepxde": (peer, "physics_deepxde.py", ("oscillator", 500)),
    }
    runs = in_turns(sides, 1, threads)
    runs |= in_turns({"deepxde burgers": (peer, "physics_deepxde.py", ("burgers", limit))}, 1, (2,))

    def least(name, key):
        found = [(n, one[key]) for n, turns in runs[name].items() for one in turns if one[key]]
        return min(found, key=lambda pair: pair[1], default=None)

    def reached(words, peer_name, own_name, most, spent, own_key="reached_s"):
        own, theirs = least(own_name, own_key), least(peer_name, "reached_s")
        if own is None:
            return row(words, "-", "not reached", "-", f">= {most} x", holds=False)
        if theirs is None:  # at least as long as it was given
            n, given = least(peer_name, spent)
            times = given / own[1]
            return row(words, f"> {given:.0f} s ({n} thr.)", f"{own[1]:.2f} s ({own[0]} thr.)",
                       f"> {times:.0f} x", f">= {most} x", holds=times >= most)  # fmt: skip
        return ratio(words, theirs, own, most)

    step = least("adam", "step_us")
    error = min(one["error"] for turns in runs["oscillator"].values() for one in turns)
    front = min(one["error"] for turns in runs["burgers"].values() for one in turns)
    own = least("oscillator", "compile_s")[1]
    return [
        *HEAD,
        ratio("oscillator, a step of Adam: eager PyTorch", least("torch", "step_us"), step, 10,
              unit="us", digits=0),
        ratio("oscillator, a step of Adam: DeepXDE", least("deepxde", "step_us"), step, 12,
              unit="us", digits=0),
        reached("oscillator to a relative error of 4e-4: 7,500 steps of Adam in eager PyTorch",
                "torch", "oscillator", 40, "seconds"),
        reached("the same in a new process, compiling included",
                "torch", "oscillator", 12, "seconds", "cold_s"),
        row("oscillator, error at the end", "-", f"{error:.1e}", f"{error:.1e}", "<= 1e-5",
            holds=error <= 1e-5),
        reached("viscous Burgers to an error of 1 %: DeepXDE's own recipe", "deepxde burgers",
                "burgers", 10, "spent_s"),
        "",
        f"Gauss-Newton in float64 with a compiled program; compiling it for the oscillator takes "
        f"{own:.1f} s once. Burgers at the end: {front:.1e}.",
    ]  # fmt: skip
