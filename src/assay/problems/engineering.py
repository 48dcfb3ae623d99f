"""Four functions of engineering that surrogates are compared on, on their usual boxes.

Definitions as in S. Surjanovic, D. Bingham, Virtual Library of Simulation Experiments, Simon Fraser
University, section "Emulation/Prediction Test Problems"; all inputs uniform. Means and spreads are
our own, from 2^20 Sobol points (repeatable to the digits given).
"""

import math

from assay.problems.problem import Problem

_LIBRARY = "Surjanovic & Bingham, Virtual Library of Simulation Experiments"


def _borehole(X, xp):
    r_w, r, t_u, h_u, t_l, h_l, length, k_w = (X[..., i] for i in range(8))
    log_ratio = xp.log(r / r_w)
    inner = 1.0 + 2.0 * length * t_u / (log_ratio * r_w**2 * k_w) + t_u / t_l
    return (2.0 * math.pi * t_u * (h_u - h_l) / (log_ratio * inner))[..., None]


def _otl_circuit(X, xp):
    del xp
    r_b1, r_b2, r_f, r_c1, r_c2, beta = (X[..., i] for i in range(6))
    v_b1 = 12.0 * r_b2 / (r_b1 + r_b2)
    gain = beta * (r_c2 + 9.0)
    both = gain + r_f
    volts = (v_b1 + 0.74) * gain / both + 11.35 * r_f / both + 0.74 * r_f * gain / (both * r_c1)
    return volts[..., None]


def _piston(X, xp):
    mass, area, v_0, k, p_0, t_a, t_0 = (X[..., i] for i in range(7))
    force = p_0 * area + 19.62 * mass - k * v_0 / area
    gas = p_0 * v_0 / t_0 * t_a
    volume = area / (2.0 * k) * (xp.sqrt(force**2 + 4.0 * k * gas) - force)
    return (2.0 * math.pi * xp.sqrt(mass / (k + area**2 * gas / volume**2)))[..., None]


def _wing_weight(X, xp):
    s_w, w_fw, aspect, sweep, q, taper, t_c, n_z, w_dg, w_p = (X[..., i] for i in range(10))
    cosine = xp.cos(sweep * (math.pi / 180.0))
    weight = 0.036 * s_w**0.758 * w_fw**0.0035 * (aspect / cosine**2) ** 0.6 * q**0.006
    weight = weight * taper**0.04 * (100.0 * t_c / cosine) ** -0.3 * (n_z * w_dg) ** 0.49
    return (weight + s_w * w_p)[..., None]


BOREHOLE = Problem(
    name="Borehole",
    about="Flow of water through a borehole between two aquifers.",
    source=f"{_LIBRARY}; W. V. Harper, S. K. Gupta, BMI/ONWI-516 (1983)",
    inputs=("r_w", "r", "T_u", "H_u", "T_l", "H_l", "L", "K_w"),
    input_units=("m", "m", "m2/yr", "m", "m2/yr", "m", "m", "m/yr"),
    low=(0.05, 100.0, 63070.0, 990.0, 63.1, 700.0, 1120.0, 9855.0),
    high=(0.15, 50000.0, 115600.0, 1110.0, 116.0, 820.0, 1680.0, 12045.0),
    outputs=("flow",),
    output_units=("m3/yr",),
    function=_borehole,
    mean=77.651,
    spread=45.6,
)

OTL_CIRCUIT = Problem(
    name="OTL circuit",
    about="Mid-point voltage of an output transformerless push-pull circuit.",
    source=f"{_LIBRARY}; E. N. Ben-Ari, D. M. Steinberg, Quality Engineering 19 (2007) 327-338",
    inputs=("R_b1", "R_b2", "R_f", "R_c1", "R_c2", "beta"),
    input_units=("kOhm", "kOhm", "kOhm", "kOhm", "kOhm", "A/A"),
    low=(50.0, 25.0, 0.5, 1.2, 0.25, 50.0),
    high=(150.0, 70.0, 3.0, 2.5, 1.2, 300.0),
    outputs=("V_m",),
    output_units=("V",),
    function=_otl_circuit,
    mean=5.4341,
    spread=1.143,
)

PISTON = Problem(
    name="Piston",
    about="Time that a piston in a cylinder takes for one cycle.",
    source=f"{_LIBRARY}; R. S. Kenett, S. Zacks, Modern Industrial Statistics, Duxbury 1998",
    inputs=("M", "S", "V_0", "k", "P_0", "T_a", "T_0"),
    input_units=("kg", "m2", "m3", "N/m", "N/m2", "K", "K"),
    low=(30.0, 0.005, 0.002, 1000.0, 90000.0, 290.0, 340.0),
    high=(60.0, 0.020, 0.010, 5000.0, 110000.0, 296.0, 360.0),
    outputs=("cycle_time",),
    output_units=("s",),
    function=_piston,
    mean=0.4625,
    spread=0.1395,
)

WING_WEIGHT = Problem(
    name="Wing weight",
    about="Weight of the wing of a light aircraft.",
    source=f"{_LIBRARY}; A. Forrester et al., Engineering Design via Surrogate Modelling, 2008",
    inputs=("S_w", "W_fw", "A", "Lambda", "q", "lambda", "t_c", "N_z", "W_dg", "W_p"),
    input_units=("ft2", "lb", "-", "deg", "lb/ft2", "-", "-", "-", "lb", "lb/ft2"),
    low=(150.0, 220.0, 6.0, -10.0, 16.0, 0.5, 0.08, 2.5, 1700.0, 0.025),
    high=(200.0, 300.0, 10.0, 10.0, 45.0, 1.0, 0.18, 6.0, 2500.0, 0.08),
    outputs=("weight",),
    output_units=("lb",),
    function=_wing_weight,
    mean=268.08,
    spread=48.08,
)
