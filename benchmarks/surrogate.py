"""Full-batch steps of a 3 x 64 network: an expert's JAX, eager PyTorch and scikit-learn."""

from common import SURROGATE_STEPS
from harness import HEAD, best, in_turns, ratio, row

TITLE = "Surrogate"


def section(ours, peer, *, quick):
    """Measure, and return the section as lines of Markdown."""
    steps = SURROGATE_STEPS // 16 if quick else SURROGATE_STEPS
    repeats, threads = (1, (1,)) if quick else (2, (1, 2))
    fewer = max(steps // 8, 500)  # of the slow sides: their cost is the same at every step
    sides = {
        "ours": (ours, "surrogate_ours.py", (steps,)),
        "expert": (ours, "surrogate_expert.py", (steps,)),
        "torch": (peer, "surrogate_torch.py", (fewer,)),
        "scikit-learn": (peer, "surrogate_sklearn.py", (fewer,)),
    }
    runs = in_turns(sides, repeats, threads)
    many = in_turns({"many": (ours, "surrogate_many.py", ())}, 1, (2,))["many"][2][0]
    own = best(runs["ours"], "step_us")

    def beside(name, words, least):
        return ratio(words, best(runs[name], "step_us"), own, least, unit="us", digits=0)

    def cost(what, key, most):
        return row(what, "one fit", f"{many[key]:.2f} x", f"{many[key]:.2f} x", f"<= {most} x",
                   holds=many[key] <= most)  # fmt: skip

    return [
        *HEAD,
        beside("expert", f"a step of {steps:,}, 800 runs, 3 x 64 tanh: JAX by an expert", 1),
        beside("torch", "the same: eager PyTorch", 2.3),
        beside("scikit-learn", "the same: scikit-learn's MLPRegressor, equal batch", 2.3),
        cost("five members of an ensemble", "five", 5.2),
        cost("20 seeds at once", "twenty_seeds", 20.8),
        cost("20 learning rates at once", "twenty_rates", 20.8),
        "",
        f"Programs compiled for the ensemble, the seeds and the rates: {many['traces']}. Training "
        f"error at the end (scaled): Assay {best(runs['ours'], 'mse')[1]:.1e}, expert "
        f"{best(runs['expert'], 'mse')[1]:.1e}. Assay's figure is the whole `fit` with its program "
        "compiled; the expert's is the bare loop.",
    ]
