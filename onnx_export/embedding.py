"""Models of other converters as parts of a graph: names, operator sets and functions that do not collide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from onnx import (
    GraphProto,
    ModelProto,
    NodeProto,
    TensorProto,
    ValueInfoProto,
    checker,
    defs,
    helper,
    version_converter,
)
from onnx.checker import ValidationError
from onnx.shape_inference import infer_shapes

from .protos import all_nodes, subgraphs

ADVICE = "convert it with target_opset=graph.opsets"


def closed_model(model: ModelProto | GraphProto, opsets: Mapping[str, int]) -> ModelProto:
    """A copy of a model whose operators are of some operator sets, by domain, and whose weights are in it.

    Raises
    ------
    TypeError
        If it is neither a model nor a graph.
    ValueError
        If it is of other operator sets that cannot be converted, or has weights in a file or sparse ones.
    """
    if not isinstance(model, ModelProto | GraphProto):
        raise TypeError(f"embed: model must be a ModelProto or a GraphProto, got a {type(model).__name__}")
    copied = ModelProto()
    if isinstance(model, ModelProto):
        copied.CopyFrom(model)
    else:
        imports = [helper.make_opsetid(domain, version) for domain, version in opsets.items()]
        copied.CopyFrom(helper.make_model(model, opset_imports=imports))
    outside = [t.name for t in copied.graph.initializer if t.data_location == TensorProto.EXTERNAL]
    if outside or copied.graph.sparse_initializer:
        raise ValueError(f"embed: weights must be dense and in the model itself, got {outside or 'sparse ones'}")
    return with_true_outputs(with_opsets(copied, opsets))


def with_true_outputs(model: ModelProto) -> ModelProto:
    """A model whose outputs are declared as they are: skl2onnx declares some of trees in float32 as float64."""
    blank = ModelProto()
    blank.CopyFrom(model)
    for entry in blank.graph.output:
        entry.ClearField("type")
    inferred = {entry.name: entry.type for entry in infer_shapes(blank).graph.output}
    for entry in model.graph.output:
        if inferred[entry.name].tensor_type.elem_type:
            entry.type.CopyFrom(inferred[entry.name])
    return model


def with_opsets(model: ModelProto, opsets: Mapping[str, int]) -> ModelProto:
    """A model in the given versions of its operator sets; those of other domains are left as they are."""
    given = {entry.domain: entry.version for entry in model.opset_import}
    if not means_same(model.graph.node, given.get("", 1), opsets[""]):
        try:
            model = version_converter.convert_version(model, opsets[""])
        # The converter's errors have no common base of their own.
        except Exception as error:
            raise ValueError(
                f"embed: the model is of opset {given.get('', 1)} and the graph of opset {opsets['']}, and onnx "
                f"cannot convert it ({str(error).splitlines()[0]}); {ADVICE}"
            ) from error
    del model.opset_import[:]
    model.opset_import.extend(helper.make_opsetid(*entry) for entry in {**given, **opsets}.items())
    try:
        checker.check_model(model)
    except ValidationError as error:
        raise ValueError(f"embed: the model is not valid in {dict(opsets)}; {ADVICE}: {error}") from error
    return model


def means_same(nodes: Iterable[NodeProto], version: int, other: int) -> bool:
    """Whether the operators of the domain ai.onnx are the same in two versions of the operator set."""
    names = {node.op_type for node in all_nodes(nodes) if node.domain == "" and defs.has(node.op_type)}
    return version == other or all(
        defs.has(name, version)
        and defs.has(name, other)
        and defs.get_schema(name, version).since_version == defs.get_schema(name, other).since_version
        for name in names
    )


def free_inputs(model: ModelProto, names: Sequence[str]) -> list[ValueInfoProto]:
    """The inputs of a model that have no default; a ValueError unless there are as many as `names`."""
    weights = {tensor.name for tensor in model.graph.initializer}
    free = [entry for entry in model.graph.input if entry.name not in weights]
    if len(free) != len(names):
        raise ValueError(f"embed: the model has the inputs {[one.name for one in free]}, got {list(names)}")
    return free


def chosen_output(model: ModelProto, name: str) -> ValueInfoProto:
    """The output of a model that is named, or its only one."""
    outputs = {entry.name: entry for entry in model.graph.output}
    if name not in outputs and (name or len(outputs) > 1):
        raise ValueError(f"embed: output must be one of those of the model, {list(outputs)}, got {name!r}")
    return outputs[name] if name else next(iter(outputs.values()))


def make_distinct(model: ModelProto, prefix: str, inputs: Mapping[str, str]) -> None:
    """Rename a model's inputs as given, and put a prefix before all other names."""
    rename_values(model.graph, lambda name: inputs.get(name, f"{prefix}.{name}"))
    rename_functions(model, prefix.replace(".", "_") + "_")


def rename_values(graph: GraphProto, new_name: Callable[[str], str]) -> None:
    """Rename all values of a graph and of the graphs in it; an empty name, of an absent input, stays."""
    for entry in (*graph.input, *graph.output, *graph.initializer, *graph.value_info):
        entry.name = new_name(entry.name)
    for node in graph.node:
        for names in (node.input, node.output):
            names[:] = [name and new_name(name) for name in names]
        for inner in subgraphs(node):
            rename_values(inner, new_name)


def rename_functions(model: ModelProto, prefix: str) -> None:
    """Put a prefix before the names of a model's functions, where they are defined and called."""
    known = {(function.domain, function.name) for function in model.functions}
    for nodes in (model.graph.node, *(function.node for function in model.functions)):
        for node in all_nodes(nodes):
            if (node.domain, node.op_type) in known:
                node.op_type = prefix + node.op_type
    for function in model.functions:
        function.name = prefix + function.name
