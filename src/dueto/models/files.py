"""Models in files: skops, ONNX, a tree's arrays; pickles only on trust."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from dueto.errors import InputError, some

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["load_model"]

PICKLES = {".pkl", ".pickle", ".joblib"}
KNOWN = ".skops, .onnx, .npz, .pkl, .pickle or .joblib"


def load_model(path: str | Path, *, trust_pickle: bool = False, trusted_types: Sequence[str] = ()) -> Any:
    """Read a model from a file; `as_model` then wraps it over a feature space.

    Parameters
    ----------
    path : path
        `.skops` (scikit-learn, by skops.io), `.onnx`, `.npz` (one decision tree: arrays left, right, feature,
        threshold, value), or `.pkl`, `.pickle`, `.joblib`.
    trust_pickle : bool, default False
        Read pickles and joblib files, which can run any code that their author chose.
    trusted_types : sequence of str
        Types beyond skops's own list that a skops file may hold.

    Raises
    ------
    InputError
        If there is no such file, it is of another kind or damaged, it is not trusted, or the package that reads it is
        missing.
    """
    path = Path(path)
    if not path.is_file():
        raise InputError(f"{path} is a folder; give a file" if path.is_dir() else f"there is no file {path}")
    if path.stat().st_size == 0:
        raise InputError(f"{path} is empty; save the model again")
    suffix = path.suffix.lower()
    if suffix == ".skops":
        return _skops(path, trusted_types)
    if suffix == ".onnx":
        from dueto.models.onnx import OnnxModel

        return OnnxModel.load(path)
    if suffix == ".npz":
        from dueto.models.tree import Tree

        return Tree.load(path)
    if suffix in PICKLES:
        return _pickle(path, trust_pickle)
    raise InputError(f"{path} is not a kind of model file that can be read; give {KNOWN}")


def _skops(path: Path, trusted_types: Sequence[str]) -> Any:
    try:
        from skops.io import get_untrusted_types, load
    except ImportError:
        raise InputError(f"{path} needs the package skops; run: pip install skops") from None
    try:
        unknown = [name for name in get_untrusted_types(file=path) if name not in trusted_types]
        if not unknown:
            return load(path, trusted=list(trusted_types))
    except Exception as problem:
        raise InputError(
            f"{path} cannot be read as a skops file; save the model again with skops.io.dump, by the same versions"
        ) from problem
    raise InputError(
        f"{path} holds types that are not trusted: {some(unknown, len(unknown))}; if you trust where it comes from, "
        "allow each with --trust-type NAME, or trusted_types=[...] in Python"
    )


def _pickle(path: Path, trust: bool) -> Any:
    if not trust:
        raise InputError(
            f"{path} is a pickle, which can run any code its author chose when it is read; if you trust where it comes "
            "from, use --trust-pickle, or trust_pickle=True in Python"
        )
    import joblib

    try:
        return joblib.load(path)
    except Exception as problem:
        raise InputError(
            f"{path} cannot be read as a pickle ({type(problem).__name__}: {' '.join(str(problem).split())[:200]}); "
            "save the model again, by the same versions of its packages"
        ) from problem
