"""ONNX's node tests, the models of opset 6 that it still has, from when its
operators had an axis, and what its reference implementation makes of special
values."""

import glob
import os
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.case.node import collect_testcases
from onnx.reference import ReferenceEvaluator

import contract
from cases import Suite
from vectors import Writer
from with_numpy import DTYPES, TYPE_NAMES, from_numpy, to_numpy

NAMES = {"Add": "add", "Sub": "sub", "Mul": "mul", "Div": "div", "Pow": "pow",
         "Max": "max", "Min": "min", "And": "logical_and", "Or": "logical_or",
         "Xor": "logical_xor", "Greater": "greater_than", "Less": "less_than",
         "GreaterOrEqual": "greater_equal", "LessOrEqual": "less_equal",
         "Equal": "equal", "BitwiseAnd": "bitwise_and",
         "BitwiseOr": "bitwise_or", "BitwiseXor": "bitwise_xor"}


def operation(node):
    """The name here, or None."""
    attributes = {a.name: onnx.helper.get_attribute_value(a)
                  for a in node.attribute}
    if node.op_type == "Mod":
        return "fmod" if attributes.get("fmod") else "mod"
    if node.op_type == "BitShift":
        left = attributes["direction"] == b"LEFT"
        return "bitwise_left_shift" if left else "bitwise_right_shift"
    return NAMES.get(node.op_type)


def legacy_axis(node):
    """Of opset 6: none is right-aligned."""
    for attribute in node.attribute:
        if attribute.name == "axis":
            return attribute.i
    return -1


def node_tests():
    """(name, operation, axis, operands, result)"""
    np.random.seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = collect_testcases(None)
    for test in tests:
        graph = test.model.graph
        if len(graph.node) == 1 and len(graph.node[0].input) == 2:
            for inputs, outputs in test.data_sets:
                yield (test.name, operation(graph.node[0]), -1, inputs,
                       outputs)


def legacy_tests():
    folder = os.path.join(os.path.dirname(onnx.__file__),
                          "backend/test/data/pytorch-operator")
    for path in sorted(glob.glob(folder + "/*/model.onnx")):
        graph = onnx.load(path).graph
        data = os.path.join(os.path.dirname(path), "test_data_set_0")
        if len(graph.node) != 1 or len(graph.node[0].input) != 2:
            continue
        arrays = [numpy_helper.to_array(onnx.load_tensor(name))
                  for kind in ("input", "output")
                  for name in sorted(glob.glob(f"{data}/{kind}_*.pb"))]
        if len(arrays) == 3:
            axis = legacy_axis(graph.node[0])
            yield (os.path.basename(os.path.dirname(path)),
                   operation(graph.node[0]), axis, arrays[:2], arrays[2:])


def evaluator(op, dtype):
    """Of a model of one operator; None if there is none for the type."""
    operators = {ours: name for name, ours in NAMES.items()}
    name, attributes = operators.get(op), {}
    if op in ("mod", "fmod"):
        name, attributes = "Mod", {"fmod": int(op == "fmod")}
    if "shift" in op:
        side = "LEFT" if "left" in op else "RIGHT"
        name, attributes = "BitShift", {"direction": side}
    if not name:
        return None
    code = onnx.helper.np_dtype_to_tensor_dtype(np.dtype(DTYPES[dtype]))
    node = onnx.helper.make_node(name, ["x", "y"], ["out"], **attributes)
    x, y, out = (onnx.helper.make_tensor_value_info(n, t, None)
                 for n, t in (("x", code), ("y", code), ("out", 0)))
    graph = onnx.helper.make_graph([node], op, [x, y], [out])
    schema = onnx.defs.get_schema(name)
    if schema.inputs[0].types and type_string(code) not in \
            schema.inputs[0].types:
        return None
    return ReferenceEvaluator(onnx.helper.make_model(graph))


def type_string(code):
    name = onnx.TensorProto.DataType.Name(code).lower()
    return f"tensor({name})"


def run(op, x, y, axis):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            out, = evaluator(op, x.dtype).run(None, {"x": to_numpy(x),
                                                     "y": to_numpy(y)})
        except ValueError:  # an integer to a negative power, of NumPy
            return None
    return from_numpy(out)


def special_values(suite):
    for op in contract.OPERATIONS:
        for dtype in ["f16", "f32", "f64", "i32", "u8"]:
            if contract.takes(op, dtype) and evaluator(op, dtype):
                suite.edges(op, dtype)


def main(path):
    version = onnx.__version__
    writer = Writer(path, f"onnx {version}",
                    ["made by tests/conformance/generate.py; the operands and "
                     "results are those of", "ONNX's tests (Apache License "
                     "2.0), whose names stand over them, and at the end",
                     "those of its reference implementation"])
    suite = Suite("onnx", version, writer, run, None)
    for name, op, axis, inputs, outputs in list(node_tests()) + \
            list(legacy_tests()):
        if not op:
            continue
        arrays = [np.asarray(a) for a in list(inputs) + list(outputs)]
        if any(a.dtype not in TYPE_NAMES for a in arrays):
            continue
        writer.note = name
        x, y, out = (from_numpy(a) for a in arrays)
        suite.given(op, axis, x, y, out)
    special_values(suite)
    writer.close()
    return suite.unexplained
