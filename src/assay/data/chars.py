"""Text from outside: names made printable and unique, units found, words recognised."""

import re

MISSING_WORDS = frozenset(
    "|nan|-nan|+nan|nat|na|n/a|n.a.|n.a|#n/a|#na|#n/a n/a|<na>|(na)|null|none|nil|missing|nd|n.d.|"
    "-|--|---|?|.|*|#value!|#div/0!|#ref!|#num!|#name?|#null!|1.#qnan|1.#ind|-1.#ind|-1.#qnan|"
    "bad|bad input|no data|nodata|i/o timeout|pt created|invalid|void|blank|empty".split("|")
)
TRUE_WORDS = ("true", "yes", "on", "t", "y")
FALSE_WORDS = ("false", "no", "off", "f", "n")

_UNIT_WORDS = frozenset(
    "m mm cm km um µm nm in ft s ms us µs ns min h hr d day days sec hz khz mhz ghz rpm 1/min 1/s "
    "s-1 g kg mg t lb n kn mn nm n·m kpa mpa gpa pa hpa mbar bar bara barg psi psia psig atm torr "
    "mmhg k c f °c °f °k degc degf celsius kelvin w kw mw kwh wh j kj mj v mv kv a ma ka ohm kohm "
    "f uf µf hh l ml l/s l/min l/h m3 m³ m3/h m³/h m3/s m³/s kg/s kg/h kg/m3 kg/m³ g/l mg/l ppm "
    "ppb % %rh rh - 1 deg ° rad rad/s deg/s m/s km/h mph m/s2 m/s² m/s^2 g's mol mol/l ph db dba "
    "lux cd nt t/h gpm cfm mol% vol% pct percent strain µstrain ustrain mm/s µm/s um/s mm2 mm² "
    "m2 m² cm2 cm² cm3 cm³ w/m2 w/m² w/(m2k) w/mk w/m²k j/kg kj/kg j/kgk var kvar va kva pu p.u. "
    "count counts yyyy-mm-dd dd.mm.yyyy".split()
)
_BRACKETED = re.compile(r"^(.*\S)\s*[\[⟦]([^\[\]]{0,24})[\]⟧]\s*$")
_PARENTHESES = re.compile(r"^(.*\S)\s*\(([^()]{1,16})\)\s*$")
_SLASHED = re.compile(r"^(.*\S)\s+/\s+(\S{1,12})$")
_MAX_NAME = 120


def printable(text) -> str:
    r"""Return `text` on one line without control characters, shortened where it is very long.

    Examples
    --------
    >>> printable("a\nb\x07")
    'a b\\x07'
    """
    text = printable_path(text)
    return text if len(text) <= _MAX_NAME else text[: _MAX_NAME - 1] + "…"


def printable_path(path) -> str:
    """Return a path (or the name of a source) printable and whole: it is looked up again."""
    text = re.sub(r"\s+", " ", str(path)).strip()
    return "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)


def split_unit(name: str) -> tuple[str, str]:
    """Split ``"Pressure [bar]"`` into name and unit; ``""`` where there is none.

    Square brackets always hold a unit; round brackets and ``" / "`` only where what they hold
    is a known unit, so that "Pressure (outlet)" keeps its name.

    Examples
    --------
    >>> split_unit("Pressure [bar]"), split_unit("speed (m/s)"), split_unit("flow (outlet)")
    (('Pressure', 'bar'), ('speed', 'm/s'), ('flow (outlet)', ''))
    """
    match = _BRACKETED.match(name)
    if match and not (match[2].isdigit() and match[2] != "1"):  # u[0] counts, and 1 is a unit
        return match[1].strip(), match[2].strip()
    for pattern in (_PARENTHESES, _SLASHED):
        match = pattern.match(name)
        if match and is_unit(match[2]):
            return match[1].strip(), match[2].strip()
    return name, ""


def is_unit(text: str) -> bool:
    """Whether `text` is a unit that engineers write."""
    text = text.strip().casefold()
    parts = re.split(r"[*·/ ]", text)
    return text in _UNIT_WORDS or (len(parts) > 1 and all(p in _UNIT_WORDS for p in parts if p))


def bare_unit(text: str) -> str:
    """Return what a cell of a units row says: ``"[bar]"`` and ``"(bar)"`` are ``"bar"``."""
    text = printable(text)
    if len(text) > 1 and (text[0], text[-1]) in (("[", "]"), ("(", ")"), ("{", "}"), ("<", ">")):
        text = text[1:-1].strip()
    return "" if text.casefold() in ("nan", "n/a", "none") else text


def clean_names(raw, *, split: bool = True):
    """Return printable, unique names, their units, the names as given, and notes.

    Returns
    -------
    names, units, aliases : tuple of str
    notes : list of str
    """
    aliases = tuple(printable("" if name is None else name) for name in raw)
    pairs = [split_unit(name) if split else (name, "") for name in aliases]
    others = set(aliases)
    # Beside u[0] or u[2], u[1] counts too.
    pairs = [
        (f"{name}[1]", "")
        if unit == "1" and {f"{name}[0]", f"{name}[2]"} & others
        else (name, unit)
        for name, unit in pairs
    ]
    bare = [name for name, _ in pairs]
    # Two columns that differ only in the unit keep it in the name: "T [K]" and "T [degC]".
    names = (
        [b if bare.count(b) == 1 else a for b, a in zip(bare, aliases, strict=True)]
        if (len(set(bare)) != len(bare) and len(bare) <= 2000)
        else (bare if len(set(bare)) == len(bare) else list(aliases))
    )
    notes, seen, unique = [], set(names), []
    blank, repeated, counts = [], [], {}
    for position, name in enumerate(names):
        if not name:
            new = _fresh(f"column_{position + 1}", seen)
            blank.append(new)
        elif name in counts:
            new = _fresh(f"{name}_{counts[name] + 1}", seen)
            repeated.append(new)
        else:
            new = name
        counts[name] = counts.get(name, 0) + 1
        seen.add(new)
        unique.append(new)
    if blank:
        notes.append(f"{_count(blank, 'column')} without a name: called {listed(blank)}.")
    if repeated:
        notes.append(
            f"{_count(repeated, 'repeated column name')}: made unique as {listed(repeated)}."
        )
    return tuple(unique), tuple(unit for _, unit in pairs), aliases, notes


def listed(names, *, most: int = 5) -> str:
    """Return quoted names, at most `most`, then a count."""
    names = list(names)
    shown = ", ".join(f"'{n}'" for n in names[:most])
    return shown + (f" and {len(names) - most} more" if len(names) > most else "")


def counted(number: int, noun: str) -> str:
    """Return ``"1 row"``, ``"2,000 rows"``."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def _count(items, noun):
    return counted(len(items), noun)


def _fresh(name, seen):
    base, k = name, 2
    while name in seen:
        name, k = f"{base}_{k}", k + 1
    return name
