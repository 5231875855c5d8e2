"""A graph under construction: nodes and constants, with the bookkeeping of names and types."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from onnx import NodeProto, TensorProto, helper, numpy_helper

from rffboost_ext.core import Array

ML = "ai.onnx.ml"
FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)
INT64, BOOL = np.dtype(np.int64), np.dtype(np.bool_)


class Graph:
    """Nodes and constants of a graph, in the order of evaluation.

    What a lowering writes to. Values are known by name; the graph knows the type of each.

    Parameters
    ----------
    dtype : dtype
        Type in which real numbers are computed: float32 or float64.
    opset : int
        Version of the operators of the domain ai.onnx.
    prefix : str, default=""
        Put before every name.

    Attributes
    ----------
    nodes : list of NodeProto
    constants : dict of str to TensorProto
        Initializers by name.
    kinds : dict of str to str
        For each scope into which a term was lowered, the name of the term's type.
    """

    def __init__(self, dtype: DTypeLike, opset: int, prefix: str = "") -> None:
        self.dtype = np.dtype(dtype)
        self.opset = opset
        self.prefix = prefix
        self.nodes: list[NodeProto] = []
        self.constants: dict[str, TensorProto] = {}
        self.kinds: dict[str, str] = {}
        self.types: dict[str, np.dtype[Any]] = {}
        self._made: dict[Hashable, str] = {}
        self._final: set[str] = set()

    def input(self, name: str, dtype: DTypeLike) -> str:
        """Declare a value that comes from outside."""
        self.types[name] = np.dtype(dtype)
        self._final.add(name)
        return name

    def node(
        self,
        op: str,
        *inputs: str,
        dtype: DTypeLike | None = None,
        domain: str = "",
        name: str = "",
        unused: int = 0,
        **attributes: Any,
    ) -> str:
        """Append a node of one output that matters and return the output's name.

        Parameters
        ----------
        op : str
            Operator.
        *inputs : str
            Names of its inputs.
        dtype : dtype, optional
            Type of the output; by default the type of the first input.
        domain : str, default=""
            Domain of the operator; "" is ai.onnx.
        name : str, default=""
            Name of the output, made up by default.
        unused : int, default=0
            Further outputs, which nothing reads.
        **attributes
            Attributes of the node.
        """
        name = name or self._fresh(op.lower())
        outputs = [name, *(f"{name}.{k}" for k in range(1, unused + 1))]
        # Nodes carry no name of their own: that of the output says it, and small files stay small.
        self.nodes.append(helper.make_node(op, inputs, outputs, domain=domain, **attributes))
        self.types[name] = self.types[inputs[0]] if dtype is None else np.dtype(dtype)
        return name

    def constant(self, value: Any, name: str, dtype: DTypeLike | None = None) -> str:
        """Enter a constant and return its name.

        Real numbers take `dtype`, by default the graph's; integers become int64; text stays.
        """
        array = np.asarray(value)
        if array.dtype.kind == "f":
            array = array.astype(self.dtype if dtype is None else dtype)
        elif array.dtype.kind in "iub":
            array = array.astype(np.int64)
        name = self._fresh(name)
        self.constants[name] = tensor(array, name)
        self.types[name] = array.dtype
        return name

    def cast(self, x: str, dtype: DTypeLike) -> str:
        """`x` as a value of type `dtype`: `x` itself where it is one, and never the same cast twice."""
        dtype = np.dtype(dtype)
        if self.types[x] == dtype:
            return x
        to = helper.np_dtype_to_tensor_dtype(dtype)
        y = self.once(("cast", x, dtype), lambda: self.node("Cast", x, dtype=dtype, to=to))
        if np.can_cast(self.types[x], dtype):
            self._made["cast", y, self.types[x]] = x
        return y

    def once(self, key: Hashable, build: Callable[[], str]) -> str:
        """The value that was built under `key`, built on first use."""
        if key not in self._made:
            self._made[key] = build()
        return self._made[key]

    def rows_of(self, x: str, value: Array) -> str:
        """The row `value` (C,) once for each row of `x`: (n, C), whatever `x` holds."""
        first = self.node("Gather", x, self.constant([0], "first"), axis=1)
        # No number is greater than itself, NaN and infinity included, so this is a column of zeros.
        zero = self.cast(self.node("Greater", first, first, dtype=BOOL), self.dtype)
        spread = self.node("MatMul", zero, self.constant(np.zeros((1, len(value))), "zero"))
        return self.node("Add", spread, self.constant(value, "constant"))

    def finish(self, x: str, name: str, dtype: DTypeLike) -> str:
        """Make `x` an output of the graph, of that name and type."""
        if self.types[x] != np.dtype(dtype):
            self.node("Cast", x, name=name, dtype=dtype, to=helper.np_dtype_to_tensor_dtype(np.dtype(dtype)))
        elif x in self._final:
            self.node("Identity", x, name=name)
        else:
            self._rename(x, name)
        self._final.add(name)
        return name

    @contextmanager
    def scope(self, name: str) -> Iterator[str]:
        """Within it, names begin with `name` and a dot, on top of the scopes around it."""
        outer, self.prefix = self.prefix, f"{self.prefix}{name}."
        try:
            yield self.prefix
        finally:
            self.prefix = outer

    def _fresh(self, name: str) -> str:
        base = full = self.prefix + name
        number = 1
        while full in self.types:
            number += 1
            full = f"{base}{number}"
        return full

    def _rename(self, old: str, new: str) -> None:
        for node in self.nodes:
            for names in (node.input, node.output):
                names[:] = [new if name == old else name for name in names]
        self.types[new] = self.types.pop(old)


def tensor(array: Array, name: str) -> TensorProto:
    """An array, text included, as ONNX stores it."""
    if array.dtype.kind in "UO":
        text = [str(value).encode() for value in array.ravel()]
        return TensorProto(name=name, data_type=TensorProto.STRING, dims=array.shape, string_data=text)
    return numpy_helper.from_array(np.ascontiguousarray(array).reshape(array.shape), name)
