"""A declaration from a Python file of the user: ``FILE.py:NAME``, or ``gallery:oscillator``."""

import importlib.util
import inspect
import sys
import traceback
from pathlib import Path
from types import ModuleType
from typing import Any

from assay.errors import AssayError, StudyError, did_you_mean
from assay.physics.problem import Problem

GALLERY = "gallery"
_CURE = "Type FILE.py:NAME, where NAME is a Problem or a function that returns one."


def load_problem(source: str, home: Path | None = None) -> Problem:
    """Return the problem that is called so in a file, which is run for that.

    Parameters
    ----------
    source : str
        ``FILE.py:NAME``; ``FILE.py`` where the file declares one problem only; ``gallery:NAME``
        for one that comes with Assay.
    home : path, optional
        Folder of a ``study.toml``: a relative file that is not in the current folder is looked for
        there and in the two folders above.

    Raises
    ------
    StudyError
        If there is no such file or name, the file cannot be run (says at which line), or what is
        called so is no problem.

    Examples
    --------
    >>> load_problem("gallery:oscillator").name
    'damped oscillator'
    """
    where, _, name = source.rpartition(":")
    if where == GALLERY:
        return _from_gallery(name)
    if not where or name.endswith(".py"):
        where, name = source, ""
    path = _find(where, home)
    module = _run_file(path)
    name = name or _only_problem(module, path)
    if name not in vars(module):
        mine = _own_names(module)
        near = did_you_mean(name, mine) if mine else "It declares nothing."
        raise StudyError(f"{path} has no {name!r}. {near}", hint=_CURE)
    return _as_problem(vars(module)[name], f"{path}:{name}", path)


def _from_gallery(name: str) -> Problem:
    from assay.physics.gallery import PROBLEMS
    from assay.physics.gallery_inverse import INVERSE

    made = {maker.__name__: maker for maker in (*PROBLEMS, *INVERSE)}
    if name not in made:
        raise StudyError(
            f"The gallery has no {name!r}. {did_you_mean(name, made)}",
            hint="`assay list` shows what each is.",
        )
    return made[name]()


def _find(where: str, home: Path | None) -> Path:
    """Return the file, beside the ``study.toml`` where it is not in the current folder."""
    given = Path(where).expanduser()
    folders = () if home is None or given.is_absolute() else (home, *home.resolve().parents[:2])
    for path in (given, *(folder / given for folder in folders)):
        if path.is_file():
            if path.suffix != ".py":
                raise StudyError(f"{path} is no Python file: its name must end in .py.", hint=_CURE)
            return path
    if given.is_dir():
        raise StudyError(f"{where} is a folder; a Python file is needed.", hint=_CURE)
    beside = sorted(p.name for p in given.parent.glob("*.py")) if given.parent.is_dir() else []
    near = did_you_mean(given.name, beside) if beside else ""
    also = f", nor beside {home}" if folders else ""
    raise StudyError(f"There is no file {where}{also}. {near}".rstrip(), hint=_CURE)


def _run_file(path: Path) -> ModuleType:
    """Run a file as a module of its own, as ``import`` would; it may import its neighbours."""
    name = f"assay_declaration_{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    before = sys.modules.get(name)
    sys.modules[name] = module  # dataclasses look there for the module of a class
    sys.path.insert(0, str(path.resolve().parent))
    try:
        # Read by hand: `import` would leave a folder of byte code beside the user's file.
        exec(compile(path.read_bytes(), str(path), "exec"), vars(module))
    except SyntaxError as error:
        if error.lineno is None:
            raise StudyError(f"{path} is no Python: {error.msg}.", hint=_CURE) from error
        text = f": {error.text.strip()}" if error.text else ""
        raise StudyError(
            f"{error.filename}, line {error.lineno} is no Python: {error.msg}{text}.",
            hint="Correct that line; `python FILE.py` must run.",
        ) from error
    except (Exception, SystemExit) as error:
        raise _failed(error, path) from error
    finally:
        sys.path.remove(str(path.resolve().parent))
        if before is not None:
            sys.modules[name] = before
    return module


def _failed(error: BaseException, path: Path) -> StudyError:
    """Return what to say of an error in the user's code: at which line of the file."""
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__)
             if Path(frame.filename) == path]  # fmt: skip
    where = f"{path}, line {lines[-1]}" if lines else str(path)
    if isinstance(error, AssayError):
        return StudyError(f"{where}: {error.message}", hint=error.hint)
    if isinstance(error, SystemExit):
        said = "it ends the program (sys.exit)"
    else:
        said = f"{type(error).__name__}: {error}".rstrip(": ")
    return StudyError(
        f"{where} fails: {said}.",
        hint="The file is run to read the declaration. What is meant for a run of its own goes "
        'below `if __name__ == "__main__":`.',
    )


def _own_names(module: ModuleType) -> list[str]:
    """Return the names of a file that may be declarations: problems and its own functions."""
    return [
        name
        for name, value in vars(module).items()
        if isinstance(value, Problem)
        or (inspect.isfunction(value) and value.__module__ == module.__name__)
    ]


def _only_problem(module: ModuleType, path: Path) -> str:
    found = [name for name, value in vars(module).items() if isinstance(value, Problem)]
    if len(found) == 1:
        return found[0]
    if found:
        raise StudyError(f"{path} declares {', '.join(found)}: say which one.", hint=_CURE)
    named = ", ".join(_own_names(module)) or "nothing that could be one"
    raise StudyError(f"{path} holds no Problem; it has {named}.", hint=_CURE)


def _as_problem(value: Any, who: str, path: Path) -> Problem:
    """Return a problem from what a name stands for, calling it where it is a function."""
    if callable(value) and not isinstance(value, Problem):
        try:
            takes = inspect.signature(value).parameters.values()
        except (TypeError, ValueError):
            takes = ()
        needed = [p.name for p in takes if p.default is p.empty and p.kind < p.VAR_POSITIONAL]
        if needed:
            raise StudyError(
                f"{who} takes {', '.join(needed)}; it must be callable without arguments.",
                hint="Give each argument a default, or wrap it: def problem(): return make(1.0)",
            )
        try:
            made = value()
        except (Exception, SystemExit) as error:
            raise _failed(error, path) from error
        return _require(made, f"{who}() returns {_kind(made)}")
    return _require(value, f"{who} is {_kind(value)}")


def _kind(value: Any) -> str:
    return "None" if value is None else f"an object of type {type(value).__name__}"


def _require(value: Any, what: str) -> Problem:
    if isinstance(value, Problem):
        return value
    raise StudyError(
        f"{what}; a Problem is needed.",
        hint="Declare it: from assay.physics import Problem; Problem(equation, box, ...).",
    )
