"""ONNX classifiers, run by onnxruntime."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from dueto.errors import InputError, some

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

__all__ = ["OnnxModel"]

TYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": np.object_,
}


class OnnxModel:
    """A classifier in ONNX form, with scikit-learn's names for its parts.

    It takes a table: by position if the model has one input of p columns, by name if it has one input a column.

    Attributes
    ----------
    classes_ : list or None
        Labels of the classes, None where the file does not tell them: then a class is known by its column number.
    feature_names_in_ : list of str or None
        Names of the inputs, if there is one for each column.
    n_features_in_ : int or None
        Number of columns, if the file tells it.
    """

    def __init__(self, content: bytes) -> None:
        self.content = content
        inputs = self._session.get_inputs()
        for given in inputs:
            if given.type not in TYPES:
                raise InputError(f"the model's input {given.name!r} is a {given.type}, not numbers, booleans or text")
            if len(inputs) > 1 and given.shape[1:] not in ([], [1]):
                raise InputError(
                    f"the model's input {given.name!r} takes several columns; export one input, or one a column"
                )
        self.feature_names_in_ = [i.name for i in inputs] if len(inputs) > 1 else None
        width = inputs[0].shape[-1] if len(inputs) == 1 else len(inputs)
        self.n_features_in_ = width if isinstance(width, int) else None
        self.output, self.label = _outputs(self._session.get_outputs())
        self.classes_ = _class_labels(content)

    @classmethod
    def load(cls, path: Path) -> OnnxModel:
        """Read an .onnx file."""
        try:
            import onnxruntime  # noqa: F401
        except ImportError:
            raise InputError(f"{path} needs the package onnxruntime; run: pip install onnxruntime onnx") from None
        try:
            return cls(path.read_bytes())
        except InputError as problem:
            raise InputError(f"{path}: {problem}") from problem
        except Exception as problem:
            raise InputError(f"{path} cannot be read as an ONNX model; export it again") from problem

    @cached_property
    def _session(self) -> Any:
        return _opened(self.content)

    @cached_property
    def _tapped(self) -> dict[str, Any]:
        return {}

    def __getstate__(self) -> dict[str, Any]:
        sessions = {"_session", "_tapped"}  # cannot be pickled
        return {name: value for name, value in vars(self).items() if name not in sessions}

    def predict_proba(self, table: Any) -> NDArray[np.float64]:
        """Probabilities of the classes, shape (N, k); or scores, shape (N,), if that is what the model gives."""
        given, *labels = self._session.run([self.output, *([self.label] if self.label else [])], self._feed(table))
        if isinstance(given, list):  # one {class: probability} a row
            return np.array([[row[c] for c in self.classes_ or row] for row in given], dtype=np.float64)
        if self.classes_ is None and labels and labels[0].dtype.kind == "i":
            _refuse_other_numbers(given, labels[0])
        return np.asarray(given, dtype=np.float64)

    def tensor(self, name: str, table: Any) -> NDArray[Any]:
        """A tensor inside the graph, by its name there, as it is while a table is scored."""
        feed = self._feed(table)
        if name in feed:
            return feed[name]
        if name not in self._tapped:
            self._tapped[name] = _opened(_with_output(self.content, name))
        return np.asarray(self._tapped[name].run([name], feed)[0])

    def _feed(self, table: Any) -> dict[str, NDArray[Any]]:
        inputs = self._session.get_inputs()
        columns = [table] if self.feature_names_in_ is None else [table[name] for name in self.feature_names_in_]
        return {i.name: _tensor(column, i) for i, column in zip(inputs, columns, strict=True)}


def _opened(content: bytes) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4  # problems are raised; the log would only repeat them on stderr
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def _with_output(content: bytes, name: str) -> bytes:
    """The same model with one more output."""
    import onnx

    model = onnx.load_model_from_string(content)
    model.graph.output.append(onnx.ValueInfoProto(name=name))
    return bytes(model.SerializeToString())


def _tensor(column: Any, given: Any) -> NDArray[Any]:
    """A column, or a whole table, as the input wants it."""
    dtype = TYPES[given.type]
    if dtype is np.object_:
        values = np.asarray(column, dtype=object)
        if not all(isinstance(v, str) for v in values.flat):
            raise ValueError(f"the ONNX input {given.name!r} takes text, and a value is missing or is not text")
    else:
        numbers = np.asarray(column, dtype=np.float64)
        if dtype not in (np.float32, np.float64) and not np.array_equal(numbers, np.round(numbers)):
            raise ValueError(
                f"the ONNX input {given.name!r} takes whole numbers, and a value is missing or has a fraction"
            )
        with np.errstate(over="ignore"):
            values = numbers.astype(dtype)
    return values.reshape(-1, 1) if values.ndim < len(given.shape) else values


def _outputs(outputs: Sequence[Any]) -> tuple[str, str | None]:
    """Names of the output that holds probabilities or scores, and of the one that holds labels."""
    floats = [o.name for o in outputs if o.type in {"tensor(float)", "tensor(double)"} or o.type.startswith("seq(map(")]
    likely = [name for name in floats if "prob" in name.lower()] if len(floats) > 1 else floats
    if len(likely) != 1:
        raise InputError(
            f"the model gives {some(o.name for o in outputs)}, and it is not clear which holds the probabilities; "
            "export it with one output for them"
        )
    return likely[0], next((o.name for o in outputs if o.name not in floats), None)


def _refuse_other_numbers(probabilities: NDArray[Any], labels: NDArray[Any]) -> None:
    """Without names of classes a class is known by its column; labels that say otherwise would mislead."""
    k = probabilities.shape[1] if probabilities.ndim == 2 else 2
    column = np.clip(labels.ravel(), 0, k - 1)
    if not np.array_equal(column, labels.ravel()) or (
        probabilities.ndim == 2
        and (probabilities[np.arange(len(column)), column] < probabilities.max(axis=1) - 1e-6).any()
    ):
        raise InputError(
            "the ONNX model's labels are not the numbers of its columns; export it with a ZipMap, which names them"
        )


# -- class labels, read off the file: ModelProto graph = 7; node = 1; attribute = 5; name = 1, ints = 8, strings = 9 --


def _class_labels(content: bytes) -> list[Any] | None:
    """Labels of the classes, if all nodes that name classes agree."""
    found = []
    for graph in (v for n, v in _fields(content) if n == 7):
        for node in (v for n, v in _fields(graph) if n == 1):
            for attribute in (v for n, v in _fields(node) if n == 5):
                labels = _labels_in(attribute)
                if labels and labels not in found:
                    found.append(labels)
    return found[0] if len(found) == 1 else None


def _labels_in(attribute: bytes) -> list[Any]:
    labels: list[Any] = []
    for number, value in _fields(attribute):
        if number == 1 and not value.startswith(b"classlabels_"):
            break
        if number == 8:
            numbers = [value] if isinstance(value, int) else list(_varints(value))
            labels += [n - 2**64 if n >= 2**63 else n for n in numbers]
        elif number == 9:
            labels.append(value.decode())
    return labels


def _fields(message: bytes) -> Iterator[tuple[int, Any]]:
    """Numbers and values of the fields of a protobuf message; values of fixed width are skipped."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == 0:
            value, at = _varint(message, at)
            yield key >> 3, value
        elif kind == 2:
            length, at = _varint(message, at)
            yield key >> 3, message[at : at + length]
            at += length
        else:
            at += {1: 8, 5: 4}[kind]


def _varints(packed: bytes) -> Iterator[int]:
    at = 0
    while at < len(packed):
        number, at = _varint(packed, at)
        yield number


def _varint(message: bytes, at: int) -> tuple[int, int]:
    number = shift = 0
    while True:
        byte = message[at]
        number |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return number, at
