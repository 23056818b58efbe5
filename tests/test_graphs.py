"""Graphs: against TensorBoard's answers, against slow plain readings, and what its page loses."""

from __future__ import annotations

import gzip
import json
import re
import sys
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from conftest import expected, log_path
from event_bytes import VERSION, field, record, scalar_event, timed
from hypothesis import given, settings
from hypothesis import strategies as st

import tbframe
from tbframe.events.messages import message_class
from tbframe.kinds.graph import Graph
from tbframe.kinds.keras_graph import keras_graph

LOGGED = [
    ("torch", "adam-1e-2", None, "adam-1e-2"),
    ("tensorboardx", "adam-1e-2", None, "adam-1e-2"),
    ("tf1", "train", None, "train"),
    ("tf2", "keras/train", "keras", "keras/train:keras"),
    ("tf2", "summary", "traced", "summary:traced"),
]


def read(logdir, run: str | None = None, tag: str | None = None, step: int | None = None) -> Graph:
    return tbframe.graph(logdir, run=run, tag=tag, step=step)


def parse(text: str):
    from google.protobuf import text_format

    return text_format.Parse(text, message_class("GraphDef")())


def build(*nodes: tuple) -> Graph:
    """A graph of (name, op, input, ...)."""
    message = message_class("GraphDef")()
    for name, op, *inputs in nodes:
        message.node.add(name=name, op=op, input=inputs)
    return Graph(message)


def rows(frame: pd.DataFrame, *columns: str) -> list[tuple]:
    return list(frame[list(columns or frame.columns)].itertuples(index=False, name=None))


def write(directory: Path, *payloads: bytes) -> Path:
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "events.out.tfevents.1700000000.x").write_bytes(b"".join(map(record, (VERSION, *payloads))))
    return directory


def graph_event(message, step: int = 0) -> bytes:
    return timed(step, field(4, message.SerializeToString()))


def plugin_event(plugin: str, content: bytes, tag: str = "t", step: int = 0) -> bytes:
    tensor = b"\x08\x07" + field(8, content)
    metadata = field(1, field(1, plugin.encode()) + field(2, b"1"))
    return timed(step, field(5, field(1, field(1, tag.encode()) + field(8, tensor) + field(9, metadata))))


def definition(*names: str, producer: int = 0):
    message = message_class("GraphDef")()
    for name in names:
        message.node.add(name=name, op="X")
    if producer:
        message.versions.producer = producer
    return message


# TensorBoard's answers ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("server", ["", "-fast"])
@pytest.mark.parametrize(("log", "run", "tag", "key"), LOGGED)
def test_the_graph_that_tensorboard_serves(log, run, tag, key, server):
    graph = read(log_path(log), run, tag)
    answer = parse(expected(log + server)["graphs"]["graph"][key])
    assert parse(graph.to_pbtxt()) == answer
    assert parse(gzip.decompress(graph.to_pbtxt(gzipped=True)).decode()) == answer
    assert message_class("GraphDef").FromString(graph.to_bytes()) == answer


@pytest.mark.parametrize("server", ["", "-fast"])
def test_tensorboards_list_of_graphs_can_be_rebuilt(log, server):
    tags = tbframe.open(log_path(log)).tags()
    info: dict = {}
    for row in tags[tags.kind.isin(["graph", "node_stats"])].itertuples():
        if row.kind == "graph" and row.tag == "" and not row.plugin:
            continue  # a MetaGraphDef, which TensorBoard never shows
        of_run = info.setdefault(row.run, {"run": row.run, "run_graph": False, "tags": {}})
        if row.tag == "__run_graph__":
            of_run["run_graph"] = True
            continue
        of_run["tags"][row.tag] = {
            "tag": row.tag,
            "conceptual_graph": row.plugin == "graph_keras_model",
            "op_graph": row.plugin.startswith("graph_run_metadata"),
            "profile": row.plugin in ("", "graph_run_metadata"),
        }
    assert info == expected(log + server)["graphs"]["info"]


# Frames against a plain reading ---------------------------------------------------------------------------------------


def plain_input(text: str) -> tuple[str, int, bool]:
    if text.startswith("^"):
        return text[1:], -1, True
    match = re.fullmatch(r"(.*):(\d+)", text)
    return (match[1], int(match[2]), False) if match else (text, 0, False)


@pytest.mark.parametrize(("log", "run", "tag", "key"), LOGGED)
def test_nodes_and_edges_against_a_plain_reading(log, run, tag, key):
    graph = read(log_path(log), run, tag)
    message = parse(expected(log)["graphs"]["graph"][key])
    nodes, edges = [], []
    for node in message.node:
        scope, _, _ = node.name.rpartition("/")
        nodes.append((node.name, node.op, node.device, scope, node.name.count("/")))
        for position, text in enumerate(node.input):
            source, output, control = plain_input(text)
            edges.append((source, output, node.name, position, control))
    assert rows(graph.nodes, "name", "op", "device", "scope", "depth") == nodes
    assert rows(graph.edges) == edges
    assert graph.edges.columns.tolist() == ["source", "output", "target", "position", "control"]
    assert [str(dtype) for dtype in graph.edges.dtypes] == ["object", "int64", "object", "int64", "bool"]
    assert [str(dtype) for dtype in graph.nodes.dtypes] == ["object"] * 4 + ["int64", "object"]


def test_no_nodes():
    graph = Graph(message_class("GraphDef")())
    assert [str(dtype) for dtype in graph.edges.dtypes] == ["object", "int64", "object", "int64", "bool"]
    assert [str(dtype) for dtype in graph.nodes.dtypes] == ["object"] * 4 + ["int64", "object"]
    overview = graph.collapse(1)
    assert overview.nodes.columns.tolist() == ["name", "op", "scope", "depth", "ops", "op_counts", "devices"]
    assert overview.edges.columns.tolist() == ["source", "target", "edges", "control", "references", "size"]
    assert graph.to_pbtxt() == ""


def test_inputs():
    graph = build(("a", "A"), ("b", "B", "a", "a:1", "^c", "gone:3", "f:out:2", "x:y", "a/:0"))
    assert rows(graph.edges, "source", "output", "control") == [
        ("a", 0, False), ("a", 1, False), ("c", -1, True), ("gone", 3, False), ("f", 2, False),
        ("x:y", 0, False), ("a/", 0, False),
    ]  # fmt: skip
    assert graph.edges.position.tolist() == list(range(7))


def test_attributes():
    message = message_class("GraphDef")()
    attr = message.node.add(name="n").attr
    attr["text"].s = b"loc:@w"
    attr["bytes"].s = b"\xff\x00"
    attr["int"].i = -3
    attr["float"].f = 0.5
    attr["bool"].b = True
    attr["type"].type = 14
    attr["reference"].type = 101
    attr["shape"].shape.dim.add(size=-1)
    attr["shape"].shape.dim.add(size=4)
    attr["rank"].shape.unknown_rank = True
    attr["scalar"].shape.SetInParent()
    attr["placeholder"].placeholder = "p"
    attr["func"].func.name = "body"
    attr["func"].func.attr["T"].type = 1
    attr["list"].list.i.extend([1, 2])
    attr["shapes"].list.shape.add(unknown_rank=True)
    attr["shapes"].list.shape.add().dim.add(size=2)
    attr["nothing"].SetInParent()
    attr["empty"].list.SetInParent()
    tensor = attr["tensor"].tensor
    tensor.dtype = 3
    tensor.tensor_shape.dim.add(size=3)
    tensor.int_val.extend([7, 9])
    found = Graph(message).nodes.attributes[0]
    np.testing.assert_array_equal(found.pop("tensor"), np.array([7, 9, 9], np.int32), strict=True)
    assert list(found) == sorted(found)
    assert found == {
        "text": "loc:@w", "bytes": b"\xff\x00", "int": -3, "float": 0.5, "bool": True, "type": "bfloat16", "reference": "float32",
        "shape": (-1, 4), "rank": None, "scalar": (), "placeholder": "p",
        "func": {"name": "body", "attributes": {"T": "float32"}},
        "list": [1, 2], "shapes": [None, (2,)], "nothing": None, "empty": [],
    }  # fmt: skip


def test_a_constant_that_claims_to_be_huge():
    message = message_class("GraphDef")()
    for name, values in (("one", [2.5]), ("two", [1.0, 2.0])):
        tensor = message.node.add(name=name, op="Const").attr["value"].tensor
        tensor.dtype = 1
        tensor.tensor_shape.dim.add(size=1 << 40)
        tensor.tensor_shape.dim.add(size=3)
        tensor.float_val.extend(values)
    message.node.add(name="unknown").attr["value"].tensor.tensor_shape.unknown_rank = True
    one, two, unknown = (attributes["value"] for attributes in Graph(message).nodes.attributes)
    assert one.shape == (1 << 40, 3)
    assert one.strides == (0, 0)
    assert one[7, 2] == 2.5
    assert two.startswith("<float32 [1099511627776, 3]: ")
    assert unknown.startswith("<invalid tensor: ")


def test_functions():
    graph = read(log_path("tf2"), "summary", "traced")
    assert graph.functions == []
    message = message_class("GraphDef")()
    function = message.library.function.add()
    function.signature.name = "body"
    function.signature.input_arg.add(name="x")
    function.node_def.add(name="y", op="Relu", input=["x", "z:out:1"])
    graph = Graph(message, "run", "tag", 3)
    assert graph.functions == ["body"]
    body = graph.function("body")
    assert rows(body.nodes, "name", "op") == [("x", "input_arg"), ("y", "Relu")]
    assert rows(body.edges, "source", "output", "target") == [("x", 0, "y"), ("z", 1, "y")]
    assert (body.run, body.tag, body.step) == ("run", "tag", 3)
    with pytest.raises(tbframe.UnknownNameError, match=r"no function 'bodi'. Did you mean 'body'"):
        graph.function("bodi")


def test_a_large_graph_becomes_frames_fast():
    message = message_class("GraphDef")()
    for i in range(50_000):
        node = message.node.add(
            name=f"model/layer_{i // 500}/block_{i // 50 % 10}/op_{i}", op="MatMul", device="/device:GPU:0"
        )
        node.input.extend([f"model/op_{i // 2}", f"^model/op_{i // 3}"])
        node.attr["T"].type = 1
        node.attr["_class"].list.s.append(b"loc:@x")
        shape = node.attr["_output_shapes"].list.shape.add()
        shape.dim.add(size=32)
    data = message.SerializeToString()
    begin = time.process_time()
    graph = Graph(message_class("GraphDef").FromString(data))
    assert len(graph.nodes) == 50_000
    assert len(graph.edges) == 100_000
    assert time.process_time() - begin < 2


# Which graph ----------------------------------------------------------------------------------------------------------


def test_the_only_graph_needs_no_name():
    graph = read(log_path("torch"))
    assert (graph.run, graph.tag, graph.step) == ("adam-1e-2", "__run_graph__", 0)
    assert repr(graph) == "<tbframe.Graph of run 'adam-1e-2', tag '__run_graph__': 9 nodes, 12 edges>"
    assert repr(build(("a", "A"))) == "<tbframe.Graph: 1 nodes, 0 edges>"


def test_the_graph_in_a_meta_graph():
    assert read(log_path("tf1"), tag="").to_bytes() == read(log_path("tf1")).to_bytes()


def test_a_meta_graph_alone(tmp_path):
    meta = message_class("MetaGraphDef")(graph_def=definition("a"))
    write(tmp_path, timed(0, field(9, meta.SerializeToString())), plugin_event("graph_keras_model", b"{}"))
    graph = read(tmp_path)
    assert (graph.tag, graph.nodes.name.tolist()) == ("", ["a"])


def test_several_graphs_of_a_run(tmp_path):
    events = [graph_event(definition(name), step) for name, step in (("a", 0), ("b", 5), ("c", 5), ("d", 3))]
    write(tmp_path, *events)
    assert read(tmp_path).nodes.name.tolist() == ["c"]  # the highest step, of equal ones the last
    assert read(tmp_path, step=3).nodes.name.tolist() == ["d"]
    with pytest.raises(ValueError, match=r"step=4: run '.', tag '__run_graph__' has graphs at the steps \[0, 3, 5\]"):
        read(tmp_path, step=4)


def test_an_empty_graph_is_one(tmp_path):
    write(tmp_path, graph_event(definition()))
    graph = read(tmp_path)
    assert (graph.run, len(graph.nodes)) == (".", 0)


def test_names_that_do_not_exist_or_are_not_enough(tmp_path):
    write(tmp_path / "a", graph_event(definition("x")))
    write(tmp_path / "b", plugin_event("graph_keras_model", b"{}", "k"), plugin_event("graph_run_metadata", b"", "m"))
    write(tmp_path / "none", scalar_event(0, 1.0))
    with pytest.raises(ValueError, match=r"2 runs have graphs: name one of them, run=... 'a', 'b'"):
        read(tmp_path)
    with pytest.raises(ValueError, match=r"2 tags have graphs: name one of them, tag=... 'k', 'm'"):
        read(tmp_path, "b")
    with pytest.raises(tbframe.UnknownNameError, match=r"no run with a graph 'none'. There are 2: 'a', 'b'"):
        read(tmp_path, "none")
    with pytest.raises(tbframe.UnknownNameError, match=r"no run 'nowhere'"):
        read(tmp_path, "nowhere")
    with pytest.raises(tbframe.UnknownNameError, match=r"no graph in run 'a' of tag 't'. There is 1: '__run_graph__'"):
        read(tmp_path, "a", "t")
    with pytest.raises(TypeError, match=r"tag=5: expected a name, found int"):
        read(tmp_path, "a", 5)


def test_a_log_without_graphs(tmp_path):
    write(tmp_path, scalar_event(0, 1.0))
    assert len(read(tmp_path).nodes) == 0
    with pytest.raises(tbframe.UnknownNameError, match=r"no run with a graph '.'. There is no run with a graph at all"):
        read(tmp_path, ".")


def test_several_graphs_of_a_trace_are_put_into_one(tmp_path):
    metadata = message_class("RunMetadata")()
    for name, producer in (("a", 22), ("b", 21)):
        graph = metadata.function_graphs.add().pre_optimization_graph
        graph.versions.producer = producer
        graph.node.add(name=name)
        graph.node.add(name="call", op="PartitionedCall", input=[f"{name}:1", f"^{name}"]).attr["f"].func.name = "fn"
        graph.library.function.add().signature.name = "fn"
        graph.library.gradient.add(function_name="fn", gradient_func="grad")
    write(tmp_path, plugin_event("graph_run_metadata", metadata.SerializeToString()))
    graph = read(tmp_path)
    assert rows(graph.edges, "source", "output", "target", "control") == [
        ("graph_1/a", 1, "graph_1/call", False), ("graph_1/a", -1, "graph_1/call", True),
        ("graph_2/b", 1, "graph_2/call", False), ("graph_2/b", -1, "graph_2/call", True),
    ]  # fmt: skip
    assert graph.functions == ["graph_1_fn", "graph_2_fn"]
    served = parse(graph.to_pbtxt())
    assert list(served.node[1].input) == ["graph_1/a:1", "graph_1/^a"]  # as TensorBoard has it
    assert served.node[3].attr["f"].func.name == "graph_2_fn"
    assert served.library.gradient[1].gradient_func == "graph_2_grad"
    assert served.versions.producer == 22


def test_a_trace_without_graphs(tmp_path):
    write(tmp_path, plugin_event("graph_run_metadata_graph", b""))
    assert len(read(tmp_path).nodes) == 0


# Damage ---------------------------------------------------------------------------------------------------------------


def nested(depth: int) -> bytes:
    data = field(1, b"deep")
    for _ in range(depth):
        data = field(10, field(2, field(1, b"k") + field(2, data)))  # a function with an attribute that is a function
    return field(1, field(5, field(1, b"a") + field(2, data)))


@pytest.mark.parametrize(
    ("payload", "reason"),
    [
        (timed(3, field(4, b"\xff\xff")), "the 2 bytes are no GraphDef"),
        (timed(3, field(4, nested(2000))), "no GraphDef, or one that is nested too deeply"),
        (timed(3, field(9, b"\xff\xff")), "no MetaGraphDef"),
        (plugin_event("graph_run_metadata_graph", b"\xff", step=3), "no RunMetadata"),
        (plugin_event("graph_keras_model", b"{", step=3), "the model is no JSON"),
        (plugin_event("graph_keras_model", b"[" * 200_000, step=3), "nested too deeply"),
        (plugin_event("graph_keras_model", b"[]", step=3), "without a config or name"),
    ],
)
def test_what_is_no_graph(tmp_path, payload, reason):
    write(tmp_path, payload)
    with pytest.raises(
        tbframe.EventFileError, match=f"the graph of run '.', tag '.*', step 3 cannot be read: .*{reason}"
    ) as caught:
        read(tmp_path)
    assert caught.value.offset == len(record(VERSION))
    assert caught.value.path.startswith(str(tmp_path))


def test_a_tensor_that_is_no_string(tmp_path):
    tensor = b"\x08\x03" + field(2, field(2, b"\x08\x02")) + b"\x3a\x02\x01\x02"
    metadata = field(1, field(1, b"graph_keras_model"))
    write(tmp_path, timed(0, field(5, field(1, field(1, b"t") + field(8, tensor) + field(9, metadata)))))
    with pytest.raises(tbframe.EventFileError, match=r"expected a tensor of one string, found int32 of shape \[2\]"):
        read(tmp_path)


def test_a_graph_in_a_record_that_was_damaged_since(tmp_path):
    write(tmp_path, graph_event(definition("x" * 1000)))
    log = tbframe.open(tmp_path)
    assert log.index()["."]["graph"]
    path = next(tmp_path.iterdir())
    data = bytearray(path.read_bytes())
    data[-100] ^= 1
    path.write_bytes(data)
    with pytest.raises(tbframe.EventFileError, match="is in a damaged record"):
        log.graph()


# The overview ---------------------------------------------------------------------------------------------------------


def slow_collapse(graph: Graph, depth: int, fold: bool) -> tuple[dict, dict]:
    """TensorBoard's rules, one node and one edge at a time."""

    def normalized(node) -> list[tuple[str, bool]]:
        found: list[tuple[str, bool]] = []
        for text in node.input:
            source, _, control = plain_input(text)
            if not found or found[-1][0] != source:
                found.append((source, control))
        return found

    nodes = list(parse(graph.to_pbtxt()).node)
    inner, main = {}, {}
    for node in nodes:
        folded = fold and (node.op == "Const" or re.fullmatch("[a-zA-Z]+Summary", node.op))
        (inner if folded else main)[node.name] = node
    scopes = {name[: match.start()] for name in main for match in re.finditer("/", name)}
    strict = {name: f"{name}/({name.split('/')[-1]})" if name in scopes else name for name in main}
    box = {name: "/".join(strict[name].split("/")[:depth]) for name in main}
    ops: dict = {}
    for name, node in main.items():
        ops.setdefault(box[name], Counter())[node.op] += 1
    arrows: dict = {}
    for name, node in main.items():
        for index, (source, control) in enumerate(normalized(node)):
            sources = normalized(inner[source]) if source in inner else [(source, control)]
            for origin, is_control in sources:
                if origin not in main or origin == name or box[origin] == box[name]:
                    continue
                counts = arrows.setdefault((box[origin], box[name]), Counter())
                counts["control" if is_control else "edges"] += 1
                counts["references"] += index == 0 and node.op in ("Assign", "ScatterAdd", "count_up_to")
                size = 0
                shapes = main[origin].attr["_output_shapes"].list.shape
                for shape in shapes:
                    product = 1
                    for dim in () if shape.unknown_rank else shape.dim:
                        product *= 1 if dim.size < 0 else dim.size
                    size += product
                counts["size"] += size if len(shapes) else 1
    return ops, arrows


def compare(graph: Graph, depth: int, fold: bool) -> None:
    overview = graph.collapse(depth, fold=fold)
    ops, arrows = slow_collapse(graph, depth, fold)
    assert {row.name: Counter(row.op_counts) for row in overview.nodes.itertuples()} == {
        name: Counter({op: n for op, n in counts.items() if op}) for name, counts in ops.items()
    }
    assert dict(rows(overview.nodes, "name", "ops")) == {name: counts.total() for name, counts in ops.items()}
    found = {(row.source, row.target): row for row in overview.edges.itertuples()}
    assert found.keys() == arrows.keys()
    for pair, counts in arrows.items():
        assert {name: getattr(found[pair], name) for name in ("edges", "control", "references", "size")} == {
            name: counts[name] for name in ("edges", "control", "references", "size")
        }


@pytest.mark.parametrize("fold", [True, False])
@pytest.mark.parametrize("depth", [1, 2, 5])
@pytest.mark.parametrize(("log", "run", "tag", "key"), LOGGED)
def test_the_overview_of_real_graphs_against_a_slow_one(log, run, tag, key, depth, fold):
    compare(read(log_path(log), run, tag), depth, fold)


@st.composite
def some_graphs(draw: st.DrawFn) -> Graph:
    names = draw(
        st.lists(
            st.sampled_from(["a", "a/b", "a/b/c", "a/b/d", "a-b", "b", "b/a", "c/a/b", "d", "e/f", "a/(a)"]),
            unique=True,
        )
    )
    message = message_class("GraphDef")()
    source = st.sampled_from([*names, "gone"])
    for name in names:
        op = draw(st.sampled_from(["Const", "MatMul", "ScalarSummary", "TensorSummaryV2", "Assign", ""]))
        node = message.node.add(name=name, op=op, device=draw(st.sampled_from(["", "/cpu:0"])))
        for one in draw(st.lists(source, max_size=5)):
            node.input.append(
                draw(st.sampled_from(["", "^"])) + one if draw(st.booleans()) else f"{one}:{draw(st.integers(0, 2))}"
            )
        for sizes in draw(st.none() | st.lists(st.lists(st.integers(-1, 4), max_size=2), max_size=2)) or []:
            shape = node.attr["_output_shapes"].list.shape.add()
            for size in sizes:
                shape.dim.add(size=size)
    return Graph(message)


@settings(max_examples=60, deadline=None)
@given(some_graphs(), st.integers(1, 3), st.booleans())
def test_the_overview_of_any_graph_against_a_slow_one(graph, depth, fold):
    compare(graph, depth, fold)


def test_what_the_overview_says():
    message = message_class("GraphDef")()
    for name, op, device, *inputs in [
        ("w", "Variable", "/cpu:0"),
        ("w/init", "Const", "/cpu:0", "^start"),
        ("w/assign", "Assign", "/gpu:0", "w", "w/init"),
        ("start", "NoOp", ""),
        ("net/mul", "Mul", "/gpu:0", "w", "w:1", "gone"),
        ("net/add", "Add", "/gpu:0", "net/mul", "w/init"),
        ("net/loss", "ScalarSummary", "", "net/add"),
    ]:
        message.node.add(name=name, op=op, device=device, input=inputs)
    overview = Graph(message).collapse(1)
    assert rows(overview.nodes) == [
        ("w", "", "", 0, 2, {"Variable": 1, "Assign": 1}, {"/cpu:0": 1, "/gpu:0": 1}),
        ("start", "NoOp", "", 0, 1, {"NoOp": 1}, {}),
        ("net", "", "", 0, 2, {"Mul": 1, "Add": 1}, {"/gpu:0": 2}),
    ]
    assert rows(overview.edges) == [
        ("w", "net", 1, 0, 0, 1.0),
        ("start", "w", 0, 1, 0, 1.0),
        ("start", "net", 0, 1, 0, 1.0),
    ]
    deeper = Graph(message).collapse(2)
    assert "w/(w)" in deeper.nodes.name.tolist()
    assert rows(deeper.edges[deeper.edges.references > 0], "source", "target") == [("w/(w)", "w/assign")]
    assert deeper.nodes.op.tolist() == ["Variable", "Assign", "NoOp", "Mul", "Add"]


@pytest.mark.parametrize(("depth", "error", "message"), [
    (0, ValueError, "depth=0: expected at least 1"),
    (1.5, TypeError, "expected an int, found float"), (True, TypeError, "found bool"),
])  # fmt: skip
def test_depths_that_cannot_be(depth, error, message):
    with pytest.raises(error, match=message):
        build(("a", "A")).collapse(depth)


# Keras ----------------------------------------------------------------------------------------------------------------


def layer(name: str, class_name: str = "Dense", **more) -> dict:
    config = {"name": name, "dtype": more.pop("dtype", "float32")}
    return {"class_name": class_name, "config": config | more.pop("config", {}), **more}


def tensor(name: str, output: int = 0) -> dict:
    return {"class_name": "__keras_tensor__", "config": {"shape": [None], "keras_history": [name, 0, output]}}


def inputs_of(model: dict) -> dict[str, list[str]]:
    return {node.name: list(node.input) for node in keras_graph(json.dumps(model)).node}


def functional(name: str, layers: list, inputs: list, outputs: list, **more) -> dict:
    config = {"layers": layers, "input_layers": inputs, "output_layers": outputs}
    return layer(name, "Functional", config=config, **more)


def test_a_functional_model_of_keras_3():
    model = functional(
        "m",
        [
            layer("in", "InputLayer", inbound_nodes=[]),
            layer("a", inbound_nodes=[{"args": [tensor("in")], "kwargs": {}}]),
            layer(
                "b",
                inbound_nodes=[
                    {"args": [[tensor("in"), tensor("a")]], "kwargs": {}},
                    {"args": [tensor("a")], "kwargs": {}},
                ],
            ),
            layer("c", inbound_nodes=[{"args": [tensor("a")], "kwargs": {"value": tensor("b"), "mask": None}}]),
        ],
        ["in", 0, 0],
        ["c", 0, 0],
    )
    assert inputs_of(model) == {"m/in": [], "m/a": ["m/in"], "m/b": ["m/in", "m/a", "m/a"], "m/c": ["m/a", "m/b"]}


def test_a_functional_model_of_keras_2():
    model = functional(
        "m",
        [
            layer("in", "InputLayer", inbound_nodes=[]),
            layer("a", inbound_nodes=[[["in", 0, 0, {}]]]),
            layer("b", inbound_nodes=[[["in", 0, 0, {}], ["a", 0, 1, {"training": False, "y": ["a", 0, 0]}]]]),
        ],
        [["in", 0, 0]],
        [["b", 0, 0]],
    )
    assert inputs_of(model) == {"m/in": [], "m/a": ["m/in"], "m/b": ["m/in", "m/a", "m/a"]}


def test_sequential_models_in_each_other():
    inner = layer("inner", "Sequential", config={"layers": [layer("x"), layer("y")]})
    model = layer("m", "Sequential", config={"layers": [layer("in", "InputLayer"), inner, layer("out")]})
    assert inputs_of(model) == {"m/in": [], "m/inner/x": ["m/in"], "m/inner/y": ["m/inner/x"], "m/out": ["m/inner/y"]}


def test_models_in_a_functional_model():
    branch = functional(
        "branch",
        [
            layer("p", "InputLayer", inbound_nodes=[]),
            layer("q", "InputLayer", inbound_nodes=[]),
            layer("r", inbound_nodes=[{"args": [tensor("p")]}]),
            layer("s", inbound_nodes=[{"args": [tensor("q")]}]),
        ],
        [["p", 0, 0], ["q", 0, 0]],
        [["r", 0, 0], ["s", 0, 0]],
        inbound_nodes=[{"args": [[tensor("in1"), tensor("in2")]]}],
    )
    tail = layer("tail", "Sequential", config={"layers": [layer("t")]}, inbound_nodes=[{"args": [tensor("branch", 1)]}])
    model = functional(
        "m",
        [
            layer("in1", "InputLayer", inbound_nodes=[]),
            layer("in2", "InputLayer", inbound_nodes=[]),
            branch,
            tail,
            layer(
                "end",
                inbound_nodes=[
                    {"args": [[tensor("branch"), tensor("branch", 1), tensor("branch", 7), tensor("tail")]]}
                ],
            ),
        ],
        ["in1", 0, 0],
        ["end", 0, 0],
    )
    assert inputs_of(model) == {
        "m/in1": [], "m/in2": [], "m/branch/p": ["m/in1"], "m/branch/q": ["m/in2"],
        "m/branch/r": ["m/branch/p"], "m/branch/s": ["m/branch/q"], "m/tail/t": ["m/branch/s"],
        "m/end": ["m/branch/r", "m/branch/s", "m/branch/s", "m/tail/t"],
    }  # fmt: skip


def test_a_functional_model_in_a_sequential_one():
    inner = functional(
        "f",
        [layer("p", "InputLayer", inbound_nodes=[]), layer("q", inbound_nodes=[[["p", 0, 0, {}]]])],
        [["p", 0, 0]],
        [["q", 0, 0]],
    )
    model = layer("m", "Sequential", config={"layers": [layer("a"), inner, layer("b")]})
    assert inputs_of(model) == {"m/a": [], "m/f/p": ["m/a"], "m/f/q": ["m/f/p"], "m/b": ["m/f/q"]}


def test_attributes_of_layers():
    policy = {"class_name": "DTypePolicy", "config": {"name": "float16"}}
    mixed = {"class_name": "DTypePolicy", "config": {"name": "mixed_float16"}}
    layers = [
        layer("a", dtype=policy),
        layer("b", dtype=mixed),
        layer("c", None, dtype=None),
        layer("d", "Ä", dtype="bfloat16"),
    ]
    graph = Graph(keras_graph(json.dumps(layer("m", "Sequential", config={"layers": layers}))))
    assert graph.nodes.attributes.tolist() == [
        {"dtype": "float16", "keras_class": "Dense"}, {"keras_class": "Dense"}, {}, {"dtype": "bfloat16", "keras_class": "Ä"},
    ]  # fmt: skip
    assert graph.nodes.op.tolist() == [""] * 4


def models_that_tensorboard_reads() -> list[dict]:
    def ends(first: str, last: str) -> dict:
        return {"inputs": [first, 0, 0], "outputs": [last, 0, 0]}

    def called(*names: str) -> list:
        return [{"args": [[tensor(name) for name in names]]}] if names else []

    def of(*names: str) -> dict:
        return {"inbound_nodes": called(*names)}

    inner = layer("inner", "Sequential", config={"layers": [layer("x"), layer("y")]})
    nested = functional("f", [layer("p", **of()), layer("q", **of("p"))], **ends("p", "q"))
    by_name = nested | {"config": nested["config"] | {"input_layers": ["p"]}}
    start = layer("in", **of())
    return [
        layer("m", "Sequential", config={"layers": [layer("in", "InputLayer"), inner, layer("out")]}),
        functional("m", [start, layer("a", **of("in")), layer("b", **of("in", "a"))], **ends("in", "b")),
        functional("m", [start, inner | of("in"), layer("e", **of("inner"))], **ends("in", "e")),
        functional("m", [start, nested | of("in"), layer("e", **of("f"))], **ends("in", "e")),
        layer("m", "Sequential", config={"layers": [layer("a"), by_name, layer("b")]}),
    ]


def test_models_inside_models():
    assert [inputs_of(model) for model in models_that_tensorboard_reads()] == [
        {"m/in": [], "m/inner/x": ["m/in"], "m/inner/y": ["m/inner/x"], "m/out": ["m/inner/y"]},
        {"m/in": [], "m/a": ["m/in"], "m/b": ["m/in", "m/a"]},
        {"m/in": [], "m/inner/x": ["m/in"], "m/inner/y": ["m/inner/x"], "m/e": ["m/inner/y"]},
        {"m/in": [], "m/f/p": ["m/in"], "m/f/q": ["m/f/p"], "m/e": ["m/f/q"]},
        {"m/a": [], "m/f/p": ["m/a"], "m/f/q": ["m/f/p"], "m/b": ["m/f/q"]},
    ]


@pytest.mark.tensorboard
@pytest.mark.parametrize("model", models_that_tensorboard_reads())
def test_keras_models_as_tensorboard_reads_them(model):
    keras_util = pytest.importorskip("tensorboard.plugins.graph.keras_util")
    assert parse(str(keras_util.keras_model_to_graph_def(model))) == keras_graph(json.dumps(model))


# NetworkX and the picture ---------------------------------------------------------------------------------------------


def test_to_networkx():
    nx = pytest.importorskip("networkx")
    graph = build(("a", "A"), ("b", "B", "a", "a:1", "^gone"))
    made = graph.to_networkx()
    assert isinstance(made, nx.MultiDiGraph)
    assert dict(made.nodes(data=True)) == {
        "a": {"op": "A", "device": "", "attributes": {}}, "b": {"op": "B", "device": "", "attributes": {}}, "gone": {},
    }  # fmt: skip
    assert list(made.edges(data=True)) == [
        ("a", "b", {"output": 0, "position": 0, "control": False}),
        ("a", "b", {"output": 1, "position": 1, "control": False}),
        ("gone", "b", {"output": -1, "position": 2, "control": True}),
    ]
    overview = build(("s/a", "A"), ("b", "B", "s/a")).collapse(1).to_networkx()
    assert overview.nodes["s"]["ops"] == 1
    assert overview.edges["s", "b"] == {"edges": 1, "control": 0, "references": 0, "size": 1.0}


def test_without_networkx(monkeypatch):
    monkeypatch.setitem(sys.modules, "networkx", None)
    graph = build(("a", "A"))
    for verb, what in (
        (graph.to_networkx, "to_networkx"),
        (graph.plot, "plot"),
        (graph.collapse(1).to_networkx, "to_networkx"),
    ):
        with pytest.raises(ImportError, match=rf"{what}\(\) of a graph needs networkx: pip install 'tbframe\[graph\]'"):
            verb()


@pytest.fixture
def pyplot():
    pytest.importorskip("networkx")
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    yield plt
    plt.close("all")


def drawn(ax) -> tuple[dict, list]:
    """The boxes by label, as (left, right, low, high, face), and the arrows as (begin, end, colour, style, width)."""
    from matplotlib.colors import to_hex
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

    patches = [child for child in ax.get_children() if isinstance(child, FancyBboxPatch)]
    texts = [text for text in ax.texts if text.get_text()]
    assert len(patches) == len(texts)
    boxes = {}
    for patch, text in zip(patches, texts, strict=True):
        left, low, width, height = patch.get_bbox().bounds
        edges = [round(float(edge), 6) for edge in (left, left + width, low, low + height)]
        boxes[text.get_text()] = (*edges, to_hex(patch.get_facecolor()))
        assert left < text.get_position()[0] < left + width
    arrows = []
    for child in ax.get_children():
        if isinstance(child, FancyArrowPatch):
            points = child._path_original.vertices.round(6).tolist()
            arrows.append(
                (
                    tuple(points[0]),
                    tuple(points[-1]),
                    to_hex(child.get_edgecolor()),
                    child.get_linestyle(),
                    child.get_linewidth(),
                )
            )
    return boxes, arrows


def test_the_picture(pyplot):
    graph = build(
        ("in", "Placeholder"),
        ("net/a", "Mul", "in", "net/w"),
        ("net/w", "Variable"),
        ("out", "Add", "net/a", "in", "net/w"),
        ("init", "NoOp", "^net/w"),
        ("alone", "NoOp"),
    )
    ax = graph.plot()
    boxes, arrows = drawn(ax)
    assert list(boxes) == ["in\n[Placeholder]", "net\n2 ops", "out\n[Add]", "init\n[NoOp]", "alone\n[NoOp]"]
    x = {label.split("\n")[0]: (left, right) for label, (left, right, *_) in boxes.items()}
    y = {label.split("\n")[0]: round((low + high) / 2, 6) for label, (_, _, low, high, _) in boxes.items()}
    assert x["in"][1] < x["net"][0] < x["net"][1] < x["out"][0]
    assert x["alone"][0] > x["out"][1]  # what has no edge stands apart
    assert len(arrows) == 4
    ends = {(begin[0], end[0]) for begin, end, *_ in arrows}
    assert ends == {(x[a][1], x[b][0]) for a, b in (("in", "net"), ("net", "out"), ("in", "out"), ("net", "init"))}

    def arrow(source: str, target: str) -> tuple:
        ends = (x[source][1], pytest.approx(y[source], abs=1e-5)), (x[target][0], pytest.approx(y[target], abs=1e-5))
        return next(one for one in arrows if (one[0], one[1]) == ends)

    control = arrow("net", "init")
    assert control[3] != "-"
    two = arrow("net", "out")
    assert two[4] > control[4]  # two edges, one edge
    faces = {label.split("\n")[0]: box[4] for label, box in boxes.items()}
    assert faces["net"] != faces["in"] == faces["out"] == "#ffffff"
    # Boxes do not touch.
    cells = list(boxes.values())
    for i, one in enumerate(cells):
        for other in cells[:i]:
            assert one[1] < other[0] or other[1] < one[0] or one[3] < other[2] or other[3] < one[2]


def test_the_picture_of_a_cycle(pyplot):
    graph = build(
        ("a", "A"),
        ("b", "B", "a", "d"),
        ("c", "C", "b"),
        ("d", "D", "c"),
        ("self", "S", "self"),
        ("e", "E", "f"),
        ("f", "F", "e"),
    )
    boxes, arrows = drawn(graph.plot())
    x = {label[0]: (left, right) for label, (left, right, *_) in boxes.items()}
    assert x["a"][1] < x["b"][0] < x["c"][0] < x["d"][0]
    back = [(begin[0], end[0]) for begin, end, colour, *_ in arrows if colour != "#737373"]
    assert (x["d"][0], x["b"][1]) in back  # from right to left
    assert len(back) == 2
    assert len(arrows) == 6


def test_the_picture_on_axes_that_are_given(pyplot):
    figure, ax = pyplot.subplots(figsize=(2, 2))
    assert read(log_path("tf1")).plot(ax=ax) is ax
    assert ax.texts[0].get_fontsize() < 4
    assert len(figure.axes) == 1


def test_the_picture_of_names_that_are_no_mathematics(pyplot):
    ax = build(("a$_x$", "A"), ("long/" + "x" * 300, "B"), ("long/" + "x" * 300 + "y", "B")).plot(2)
    ax.figure.canvas.draw()
    assert len(ax.texts) == 3


def test_the_picture_of_nothing_and_of_too_much(pyplot):
    assert [text.get_text() for text in build().plot().texts] == ["no nodes"]
    many = build(*[(f"n{i}", "A") for i in range(301)])
    with pytest.raises(ValueError, match=r"301 boxes cannot be told apart \(at most 300\). Take a smaller depth"):
        many.plot()


def test_the_picture_of_a_long_chain_is_not_larger_than_can_be_drawn(pyplot):
    ax = build(("n0", "A"), *[(f"n{i}", "A", f"n{i - 1}") for i in range(1, 200)]).plot()
    assert max(ax.figure.get_size_inches()) <= 30
