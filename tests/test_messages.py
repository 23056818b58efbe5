"""The protobuf messages: what they parse from real logs, that they stay private, and their language."""

import gzip
import json
import struct
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from importlib import resources
from pathlib import Path

import pytest

from tbframe.events import messages
from tbframe.events.messages import message_class

DATA = Path(__file__).parent / "data"
NAMES = ("torch", "tensorboardx", "tf1", "tf2")


def event_payloads(path: Path) -> list[bytes]:
    data, payloads, at = path.read_bytes(), [], 0
    while at < len(data):
        (length,) = struct.unpack_from("<Q", data, at)
        payloads.append(data[at + 12 : at + 12 + length])
        at += 16 + length
    return payloads


def events(name: str, run: str) -> list:
    files = sorted((DATA / "logs" / name / run).glob("*tfevents*"))
    return [message_class("Event").FromString(payload) for path in files for payload in event_payloads(path)]


def values(name: str, run: str, tag: str) -> list:
    return [v for e in events(name, run) for v in e.summary.value if v.tag == tag.encode()]


def expected(name: str) -> dict:
    with gzip.open(DATA / "expected" / f"{name}.json.gz", "rt", encoding="utf-8") as file:
        return json.load(file)


def field(number: int, payload: bytes) -> bytes:
    """Encode a length-delimited field of a number below 16 and a payload below 128 bytes."""
    return bytes([number << 3 | 2, len(payload)]) + payload


# What is parsed -------------------------------------------------------------------------------------------------------


def test_what_the_events_of_a_tensorflow_1_log_hold():
    parsed = events("tf1", "train")
    assert Counter(e.WhichOneof("what") for e in parsed) == {
        "file_version": 1,
        "graph_def": 1,
        "meta_graph_def": 1,
        "summary": 30,
        "tagged_run_metadata": 3,
    }
    assert parsed[0].file_version == b"brain.Event:2"
    assert parsed[0].wall_time == 1795983215.0
    assert parsed[0].source_metadata.writer == b"tensorflow.core.util.events_writer"
    assert [e.tagged_run_metadata.tag for e in parsed if e.HasField("tagged_run_metadata")] == [
        b"step009",
        b"step019",
        b"step029",
    ]


def unknown_fields(message) -> list:
    """Collect (message, number) of every field, however deep, that the declarations do not know."""
    from google.protobuf.unknown_fields import UnknownFieldSet

    found = [(message.DESCRIPTOR.name, unknown.field_number) for unknown in UnknownFieldSet(message)]
    for declared, value in message.ListFields():
        if declared.message_type is not None and hasattr(value, "ListFields"):
            found += unknown_fields(value)
        elif declared.message_type is not None:
            parts = value.values() if hasattr(value, "values") else value
            found += [field for part in parts if hasattr(part, "ListFields") for field in unknown_fields(part)]
    return found


@pytest.mark.parametrize("name", NAMES)
def test_the_real_logs_hold_no_field_that_is_not_declared(name):
    for path in (DATA / "logs" / name).rglob("*tfevents*"):
        for payload in event_payloads(path):
            event = message_class("Event").FromString(payload)
            graph = message_class("GraphDef").FromString(event.graph_def)
            meta_graph = message_class("MetaGraphDef").FromString(event.meta_graph_def)
            metadata = message_class("RunMetadata").FromString(event.tagged_run_metadata.run_metadata)
            for message in (event, graph, meta_graph, metadata):
                assert unknown_fields(message) == []


def test_numbers_of_fields_that_the_real_logs_do_not_hold():
    """As listed in TensorFlow's documentation of these messages."""
    numbers = {
        "Summary.Value": "tag=1 simple_value=2 obsolete_old_style_histogram=3 image=4 histo=5 audio=6 node_name=7"
        " tensor=8 metadata=9",
        "LogMessage": "level=1 message=2",
        "SessionLog": "status=1 checkpoint_path=2 msg=3",
        "TensorProto": "dtype=1 tensor_shape=2 version_number=3 tensor_content=4 float_val=5 double_val=6 int_val=7"
        " string_val=8 scomplex_val=9 int64_val=10 bool_val=11 dcomplex_val=12 half_val=13 resource_handle_val=14"
        " variant_val=15 uint32_val=16 uint64_val=17 float8_val=18",
        "NodeExecStats": "node_name=1 all_start_micros=2 op_start_rel_micros=3 op_end_rel_micros=4 all_end_rel_micros=5"
        " memory=6 output=7 timeline_label=8 scheduled_micros=9 thread_id=10 referenced_tensor=11 memory_stats=12"
        " all_start_nanos=13 op_start_rel_nanos=14 op_end_rel_nanos=15 all_end_rel_nanos=16 scheduled_nanos=17",
        "AllocatorMemoryUsed": "allocator_name=1 total_bytes=2 peak_bytes=3 live_bytes=4 allocator_bytes_in_use=5"
        " allocation_records=6",
        "MemoryStats": "temp_memory_size=1 device_temp_memory_size=2 persistent_memory_size=3"
        " device_persistent_memory_size=4 persistent_tensor_alloc_ids=5 device_persistent_tensor_alloc_ids=6",
        "FunctionDef": "signature=1 node_def=3 ret=4 attr=5 control_ret=6 arg_attr=7 resource_arg_unique_id=8",
        "OpDef": "name=1 input_arg=2 output_arg=3 attr=4 summary=5 description=6 deprecation=8 is_aggregate=16"
        " is_stateful=17 is_commutative=18 allows_uninitialized_input=19 control_output=20"
        " is_distributed_communication=21",
        "Experiment": "description=1 user=2 time_created_secs=3 hparam_infos=4 metric_infos=5 name=6",
        "SessionStartInfo": "hparams=1 model_uri=2 monitor_url=3 group_name=4 start_time_secs=5",
        "EmbeddingInfo": "tensor_name=1 metadata_path=2 bookmarks_path=3 tensor_shape=4 sprite=5 tensor_path=6",
    }
    for name, listed in numbers.items():
        declared = message_class(name).DESCRIPTOR.fields
        assert sorted(f"{f.name}={f.number}" for f in declared) == sorted(listed.split())


@pytest.mark.tensorboard
def test_every_declaration_is_tensorboard_s():
    theirs = tensorboard_descriptors()
    differences = {}
    for name in (name for file in messages._FILES for name in messages._load(file)):
        ours = {f.number: described(f) for f in message_class(name).DESCRIPTOR.fields}
        other = {f.number: described(f) for f in theirs[name].fields}
        assert ours.keys() == other.keys()
        for number in ours:
            if ours[number] != other[number]:
                differences[f"{name}.{ours[number][0]}"] = (ours[number][1:], other[number][1:])
    text = {(12, None): (9, None)}  # bytes instead of string
    assert {name for name, pair in differences.items() if text.get(pair[0]) != pair[1]} == {
        "MetaGraphDef.object_graph_def",
        "TensorInfo.CompositeTensor.type_spec",
    }
    elsewhere = {name for name in differences if name.rpartition(".")[0] not in messages._load("event")}
    assert elsewhere == {"MetaGraphDef.object_graph_def", "TensorInfo.CompositeTensor.type_spec"}


def described(field) -> tuple:
    """Describe what a field is: name, type, and of what its messages or enum constants are."""
    if field.enum_type is not None:
        return field.name, field.type, {value.name: value.number for value in field.enum_type.values}
    if field.message_type is not None and field.message_type.GetOptions().map_entry:
        return field.name, field.type, [described(part) for part in field.message_type.fields]
    return field.name, field.type, field.message_type and field.message_type.name


def tensorboard_descriptors() -> dict:
    import importlib
    import pkgutil

    from google.protobuf import any_pb2, struct_pb2

    proto = pytest.importorskip("tensorboard.compat.proto")
    names = [f"{proto.__name__}.{m.name}" for m in pkgutil.iter_modules(proto.__path__) if m.name.endswith("_pb2")]
    plugins = ("mesh", "scalar", "histogram", "image", "audio", "text", "pr_curve", "hparams")
    names += [f"tensorboard.plugins.{plugin}.plugin_data_pb2" for plugin in plugins]
    names += [f"tensorboard.plugins.{name}_pb2" for name in ("hparams.api", "custom_scalar.layout")]
    names += ["tensorboard.plugins.projector.projector_config_pb2"]
    found: dict = {}

    def collect(scope: str, nested) -> None:
        for message in nested:
            found[scope + message.name] = message
            collect(f"{scope}{message.name}.", message.nested_types)

    # The well-known types come last: TensorFlow has a ListValue of its own.
    for module in [*map(importlib.import_module, names), any_pb2, struct_pb2]:
        collect("", module.DESCRIPTOR.message_types_by_name.values())
    return found


@pytest.mark.parametrize("name", NAMES)
def test_simple_values_equal_what_tensorboard_serves(name):
    checked = 0
    for run, tags in expected(name)["scalars"]["data"].items():
        logged = {}
        for event in events(name, run):
            for value in event.summary.value:
                logged.setdefault(value.tag.decode(), []).append((event.wall_time, event.step, value))
        for tag, points in tags.items():
            # Other kinds of scalars need tensors; restarted runs need the purge.
            if run != "restarted" and all(v.WhichOneof("value") == "simple_value" for *_, v in logged[tag]):
                got = [[wall_time, step, v.simple_value] for wall_time, step, v in logged[tag]]
                assert repr(got) == repr([[*point[:2], float(point[2])] for point in points])
                checked += len(got)
    assert checked > 0 or name == "tf2"  # which writes none


def test_text_fields_of_events_need_not_be_utf_8():
    bad = b"\xff\xfetag"
    value = field(1, bad) + field(7, bad) + field(9, field(1, field(1, bad)) + field(2, bad) + field(3, bad))
    event = message_class("Event").FromString(field(5, field(1, value)))
    (parsed,) = event.summary.value
    assert (parsed.tag, parsed.node_name, parsed.metadata.plugin_data.plugin_name) == (bad, bad, bad)
    assert (parsed.metadata.display_name, parsed.metadata.summary_description) == (bad, bad)
    for number, inner in ((3, None), (7, (2, 3)), (8, (1,)), (10, (1,)), (6, (2,))):
        payload = bad if inner is None else b"".join(field(i, bad) for i in inner)
        assert message_class("Event").FromString(field(number, payload)).ByteSize() == len(payload) + 2


def test_a_value_keeps_the_last_member_of_its_oneof_and_merges_messages():
    value = message_class("Summary.Value").FromString(
        b"\x15\x00\x00\x80\x3f" + field(8, b"\x08\x01") + field(8, b"\x18\x02")
    )
    assert value.WhichOneof("value") == "tensor"
    assert (value.tensor.dtype, value.tensor.version_number) == (1, 2)


def test_hparams_of_a_real_log():
    content = {
        v.tag: message_class("HParamsPluginData").FromString(v.metadata.plugin_data.content)
        for e in events("torch", "adam-1e-2/hp")
        for v in e.summary.value
        if v.metadata.plugin_data.plugin_name == b"hparams"
    }
    start = content[b"_hparams_/session_start_info"].session_start_info
    kinds = {name: value.WhichOneof("kind") for name, value in start.hparams.items()}
    assert kinds == {"bias": "number_value", "lr": "number_value", "optimizer": "string_value", "width": "number_value"}
    assert start.hparams["lr"].number_value == 0.01
    assert content[b"_hparams_/session_end_info"].session_end_info.status == 1
    experiment = content[b"_hparams_/experiment"].experiment
    assert [info.name.tag for info in experiment.metric_infos] == ["hparam/accuracy", "hparam/loss"]


def test_domains_of_hparams_in_a_real_log():
    (value,) = values("tf2", "sweep", "_hparams_/experiment")
    data = message_class("HParamsPluginData").FromString(value.metadata.plugin_data.content)
    infos = {info.name: info for info in data.experiment.hparam_infos}
    assert [v.string_value for v in infos["optimizer"].domain_discrete.values] == ["adam", "sgd"]
    assert (infos["rate"].domain_interval.min_value, infos["rate"].domain_interval.max_value) == (0.0, 0.5)


@pytest.mark.parametrize(("name", "run"), [("torch", "adam-1e-2"), ("tf2", "summary")])
def test_layout_of_a_real_log_equals_what_tensorboard_serves(name, run):
    from google.protobuf.json_format import MessageToDict

    value = values(name, run, "custom_scalars__config__")[-1]
    layout = message_class("Layout").FromString(value.tensor.string_val[0])
    served = expected(name)["custom_scalars"]["layout"]
    assert {"version": 0, "category": [{"closed": False, **c} for c in MessageToDict(layout)["category"]]} == served


def test_plugin_contents_of_real_logs():
    mesh = {
        v.tag: message_class("MeshPluginData").FromString(v.metadata.plugin_data.content)
        for e in events("torch", "adam-1e-2")
        for v in e.summary.value
        if v.metadata.plugin_data.plugin_name == b"mesh"
    }
    assert {tag: (data.name, data.content_type, data.components) for tag, data in mesh.items()} == {
        b"cloud_VERTEX": ("cloud", 1, 10),
        b"cloud_COLOR": ("cloud", 3, 10),
    }
    assert {(data.json_config, tuple(data.shape)) for data in mesh.values()} == {("{}", (1, 12, 3))}
    (curve,) = {v.metadata.plugin_data.content for v in values("torch", "adam-1e-2", "is_three")}
    assert message_class("PrCurvePluginData").FromString(curve).num_thresholds == 21
    (audio,) = {v.metadata.plugin_data.content for v in values("tf2", "summary", "beep")}
    assert message_class("AudioPluginData").FromString(audio).encoding == 11


# Graphs: parsed from the log, they are the message whose text TensorBoard serves --------------------------------------


@pytest.mark.parametrize(("name", "run"), [("torch", "adam-1e-2"), ("tensorboardx", "adam-1e-2"), ("tf1", "train")])
def test_run_graph_equals_what_tensorboard_serves(name, run):
    from google.protobuf import text_format

    (graph,) = [message_class("GraphDef").FromString(e.graph_def) for e in events(name, run) if e.HasField("graph_def")]
    text = expected(name)["graphs"]["graph"][run]
    assert text_format.Parse(text, message_class("GraphDef")()) == graph
    assert text_format.Parse(text_format.MessageToString(graph), message_class("GraphDef")()) == graph


def test_op_graph_of_a_trace_equals_what_tensorboard_serves():
    from google.protobuf import text_format

    (value,) = values("tf2", "summary", "traced")
    metadata = message_class("RunMetadata").FromString(value.tensor.string_val[0])
    (function,) = metadata.function_graphs
    text = expected("tf2")["graphs"]["graph"]["summary:traced"]
    assert text_format.Parse(text, message_class("GraphDef")()) == function.pre_optimization_graph


@pytest.mark.parametrize(("name", "run"), [("torch", "adam-1e-2"), ("tensorboardx", "adam-1e-2"), ("tf1", "train")])
def test_run_metadata_equals_what_tensorboard_serves(name, run):
    from google.protobuf import text_format

    served = expected(name)["graphs"]["run_metadata"][run]
    logged = {
        e.tagged_run_metadata.tag.decode(): message_class("RunMetadata").FromString(e.tagged_run_metadata.run_metadata)
        for e in events(name, run)
        if e.HasField("tagged_run_metadata")
    }
    assert {tag: text_format.Parse(text, message_class("RunMetadata")()) for tag, text in served.items()} == logged


def test_meta_graph_of_a_real_log_holds_the_run_graph():
    what = {e.WhichOneof("what"): e for e in events("tf1", "train")}
    graph = message_class("GraphDef").FromString(what["graph_def"].graph_def)
    meta = message_class("MetaGraphDef").FromString(what["meta_graph_def"].meta_graph_def)
    assert [node.name for node in meta.graph_def.node] == [node.name for node in graph.node]
    assert meta.meta_info_def.tensorflow_version.startswith("2.")
    assert {op.name for op in meta.meta_info_def.stripped_op_list.op} == {node.op for node in graph.node}


def test_text_of_graphs_shows_names_as_tensorflow_declares_them():
    from google.protobuf import text_format

    text = """
        node { name: "a" op: "Const" experimental_type { type_id: TFT_PRODUCT args { type_id: TFT_TENSOR s: "x" } }
               attr { key: "T" value { type: DT_FLOAT8_E4M3B11FNUZ } }
               attr { key: "f" value { func { name: "g" attr { key: "k" value { list { type: DT_HALF_REF func {} } } } }
               } }
               experimental_debug_info { original_node_names: "b" original_func_names: "c" } }
        library { function { signature { name: "f" input_arg { name: "x" type: DT_FLOAT is_ref: true
                                         handle_data { dtype: DT_INT8 shape { unknown_rank: true } } }
                                         attr { name: "T" type: "type" has_minimum: true minimum: 1
                                                allowed_values { list { type: DT_INT4 } } } control_output: "o" }
                             ret { key: "y" value: "z:0" } control_ret { key: "o" value: "n" }
                             arg_attr { key: 0 value { attr { key: "k" value { placeholder: "p" } } } }
                             resource_arg_unique_id { key: 1 value: 2 } }
                  gradient { function_name: "f" gradient_func: "g" }
                  registered_gradients { gradient_func: "g" registered_op_type: "R" } }
        versions { producer: 22 bad_consumers: 1 bad_consumers: 2 }
        debug_info { files: "x.py" frames_by_id { key: 18446744073709551615 value { line: 0 func: "f" } }
                     traces { key: "a" value { frame_id: 7 } } name_to_trace_id { key: "a" value: 9 } }
    """
    graph = text_format.Parse(text, message_class("GraphDef")())
    assert message_class("GraphDef").FromString(graph.SerializeToString()) == graph
    printed = text_format.MessageToString(graph, as_one_line=True)
    for part in ("type: DT_FLOAT8_E4M3B11FNUZ", "type: DT_HALF_REF", "line: 0", "is_ref: true", "unknown_rank: true"):
        assert part in printed


def test_projector_configuration_reads_as_text():
    from google.protobuf import text_format

    text = (DATA / "logs" / "torch" / "adam-1e-2" / "projector_config.pbtxt").read_text()
    config = text_format.Parse(text, message_class("ProjectorConfig")())
    (embedding,) = config.embeddings
    assert embedding.tensor_name == "digits:00000"
    assert embedding.tensor_path == "00000/digits/tensors.tsv"


# One process with other declarations ----------------------------------------------------------------------------------


def test_declarations_stay_out_of_the_default_pool_and_clash_with_nothing():
    code = """
import sys
import tbframe.events.messages as messages
assert not [name for name in sys.modules if name.startswith("google.protobuf")], "protobuf imported too early"
Event = messages.message_class("Event")
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory, struct_pb2
pool = descriptor_pool.Default()
for name in ("tensorflow.Event", "tensorboard.Layout", "tensorflow.GraphDef"):
    messages.message_class(name.split(".")[1])
    try:
        pool.FindMessageTypeByName(name)
    except KeyError:
        continue
    raise AssertionError(name)
# Another package declares a message, and a file, of the same name with other fields.
file = descriptor_pb2.FileDescriptorProto(name="event.proto", package="tensorflow", syntax="proto3")
file.message_type.add(name="Event").field.add(name="other", number=2, type=9, label=1)
pool.AddSerializedFile(file.SerializeToString())
other = message_factory.GetMessageClass(pool.FindMessageTypeByName("tensorflow.Event"))
assert other(other="x").SerializeToString() == b"\\x12\\x01x"
assert Event.FromString(b"\\x10\\x07").step == 7
# The well-known types exist in both, and their texts in one are those in the other.
mine, theirs = messages.message_class("Value")(number_value=1.5), struct_pb2.Value(number_value=1.5)
assert type(mine) is not type(theirs) and str(mine) == str(theirs)
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=False, cwd=DATA.parents[1]
    )
    assert done.returncode == 0, done.stderr


def test_a_class_is_the_same_one_whoever_asks():
    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(message_class, ["RunMetadata.FunctionGraphs"] * 64))) == 1
    node = message_class("GraphDef")().node.add()
    assert type(node) is message_class("NodeDef")


def test_an_unknown_message_is_an_error_that_names_the_nearest():
    with pytest.raises(ValueError, match=r"^no message 'Graphdef' is declared; did you mean 'GraphDef' or "):
        message_class("Graphdef")
    with pytest.raises(ValueError, match=r"^no message '' is declared$"):
        message_class("")


def test_every_declared_message_has_a_class():
    declared = [name for file in messages._FILES for name in messages._load(file)]
    assert len(declared) == len(set(declared)) == 98
    assert {message_class(name).DESCRIPTOR.full_name.endswith(name) for name in declared} == {True}
    shipped = {Path(entry.name).stem for entry in resources.files(messages).iterdir() if entry.name.endswith(".proto")}
    assert shipped == set(messages._FILES)


# The language of the declarations -------------------------------------------------------------------------------------


def test_schema_of_every_construct():
    from google.protobuf import descriptor_pool, message_factory

    from tbframe.events.messages.schema import parse

    text = """
        // A comment.
        syntax = "proto3";
        package p.q;
        enum Colour {
          RED = 0;
          BLUE = 7;
        }
        message M {
          message Inner {
            sfixed64 x = 1;  // nested
          }
          enum Kind {
            NONE = 0;
          }
          map<string, Inner> some_inner = 1;
          oneof choice {
            double a = 2;
            Inner b = 3;
          }
          oneof another {
            Kind c = 4;
          }
          repeated Colour colours = 15;
          p.q.M.Inner full = 16;
        }
    """
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(parse("m.proto", text).SerializeToString())
    message = message_factory.GetMessageClass(pool.FindMessageTypeByName("p.q.M"))
    oneofs = {o.name: [f.name for f in o.fields] for o in message.DESCRIPTOR.oneofs}
    assert oneofs == {"choice": ["a", "b"], "another": ["c"]}
    assert message.DESCRIPTOR.fields_by_name["colours"].enum_type.values_by_name["BLUE"].number == 7
    parsed = message.FromString(field(1, field(1, b"k") + field(2, b"\x09" + b"\xff" * 8)) + field(15, b"\x07\x00"))
    assert parsed.some_inner["k"].x == -1
    assert list(parsed.colours) == [7, 0]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (
            "message M {\n  int32 x = one;\n}",
            "m.proto, line 2: 'int32 x = one;' is not a statement of the subset read here",
        ),
        ("}", "m.proto, line 1: '}' is not a statement"),
        ("message M { int32 x = 1; }", "m.proto, line 1"),
        ('syntax = "proto4";', "m.proto, line 1"),
        ("message M {\n  oneof o {\n", "m.proto: 2 of the blocks opened are not closed"),
    ],
)
def test_schema_errors_say_where(text, reason):
    from tbframe.events.messages.schema import parse

    with pytest.raises(SyntaxError) as error:
        parse("m.proto", text)
    assert reason in str(error.value)
