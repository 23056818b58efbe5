"""Tensors: every dtype as content and as list, from bytes put together by hand; the rules of filling; refusals."""

import gzip
import importlib.util
import json
import struct
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tbframe.events.messages import message_class
from tbframe.events.tensors import dtype_name, element_count, shape_of, stack, to_array

DATA = Path(__file__).parent / "data"
needs_ml_dtypes = pytest.mark.skipif(importlib.util.find_spec("ml_dtypes") is None, reason="needs ml_dtypes")


@pytest.fixture
def without_ml_dtypes(monkeypatch):
    monkeypatch.setitem(sys.modules, "ml_dtypes", None)


# An encoder of our own ------------------------------------------------------------------------------------------------


def varint(value: int) -> bytes:
    value &= 2**64 - 1
    groups = [value >> 7 * i & 0x7F for i in range(max(1, -(-value.bit_length() // 7)))]
    return bytes([group | 0x80 for group in groups[:-1]] + [groups[-1]])


def field(number: int, payload: bytes) -> bytes:
    return varint(number << 3 | 2) + varint(len(payload)) + payload


def shape_bytes(*sizes: int) -> bytes:
    return b"".join(field(2, b"\x08" + varint(size)) for size in sizes)


def tensor(dtype: int, shape: tuple | None, *fields: bytes) -> bytes:
    return b"\x08" + varint(dtype) + (b"" if shape is None else field(2, shape_bytes(*shape))) + b"".join(fields)


def varints(*values: int) -> bytes:
    return b"".join(map(varint, values))


# Every dtype: number, name, four values, their content, their list ----------------------------------------------------

HALVES = [0x3C00, 0xC100, 0x7C00, 0x0001]  # 1, -2.5, inf, the smallest
BFLOATS = [0x3F80, 0xC020, 0x7F80, 0x0001]  # 1, -2.5, inf, the smallest: upper halves of float32
PLAIN = [
    (1, "float32", [1.5, -0.0, np.inf, 1e-45], struct.pack("<4f", 1.5, -0.0, np.inf, 1e-45), 5, None),
    (2, "float64", [0.1, -0.0, -np.inf, 5e-324], struct.pack("<4d", 0.1, -0.0, -np.inf, 5e-324), 6, None),
    (3, "int32", [0, -1, 2**31 - 1, -(2**31)], struct.pack("<4i", 0, -1, 2**31 - 1, -(2**31)), 7, ...),
    (4, "uint8", [0, 1, 128, 255], bytes([0, 1, 128, 255]), 7, ...),
    (5, "int16", [0, -1, 32767, -32768], struct.pack("<4h", 0, -1, 32767, -32768), 7, ...),
    (6, "int8", [0, -1, 127, -128], struct.pack("<4b", 0, -1, 127, -128), 7, ...),
    (8, "complex64", [1 + 2j, 0.5j, -3, 1e-45j], struct.pack("<8f", 1, 2, 0, 0.5, -3, 0, 0, 1e-45), 9, None),
    (9, "int64", [0, -1, 2**63 - 1, -(2**63)], struct.pack("<4q", 0, -1, 2**63 - 1, -(2**63)), 10, ...),
    (10, "bool", [True, False, False, True], bytes([1, 0, 0, 1]), 11, varints(1, 0, 0, 1)),
    (11, "int8", [0, -1, 127, -128], struct.pack("<4b", 0, -1, 127, -128), 7, ...),
    (12, "uint8", [0, 1, 128, 255], bytes([0, 1, 128, 255]), 7, ...),
    (13, "int32", [0, -1, 2**31 - 1, -(2**31)], struct.pack("<4i", 0, -1, 2**31 - 1, -(2**31)), 7, ...),
    (15, "int16", [0, -1, 32767, -32768], struct.pack("<4h", 0, -1, 32767, -32768), 7, ...),
    (16, "uint16", [0, 1, 32768, 65535], struct.pack("<4H", 0, 1, 32768, 65535), 7, ...),
    (17, "uint16", [0, 1, 32768, 65535], struct.pack("<4H", 0, 1, 32768, 65535), 7, ...),
    (18, "complex128", [1 + 2j, 0.5j, -3, 5e-324j], struct.pack("<8d", 1, 2, 0, 0.5, -3, 0, 0, 5e-324), 12, None),
    (19, "float16", [1.0, -2.5, np.inf, 2.0**-24], struct.pack("<4H", *HALVES), 13, varints(*HALVES)),
    (22, "uint32", [0, 1, 2**31, 2**32 - 1], struct.pack("<4I", 0, 1, 2**31, 2**32 - 1), 16, ...),
    (23, "uint64", [0, 1, 2**63, 2**64 - 1], struct.pack("<4Q", 0, 1, 2**63, 2**64 - 1), 17, ...),
]
BITS = [
    (14, "bfloat16", [1.0, -2.5, np.inf, 2.0**-133], struct.pack("<4H", *BFLOATS), 13, varints(*BFLOATS)),
    (24, "float8_e5m2", [1.0, -2.0, np.inf, 2.0**-16], bytes([0x3C, 0xC0, 0x7C, 0x01]), 18, None),
    (25, "float8_e4m3fn", [1.0, -2.0, 448.0, 2.0**-9], bytes([0x38, 0xC0, 0x7E, 0x01]), 18, None),
    (26, "float8_e4m3fnuz", [1.0, -2.0, 240.0, 2.0**-10], bytes([0x40, 0xC8, 0x7F, 0x01]), 18, None),
    (27, "float8_e4m3b11fnuz", [1.0, -2.0, 30.0, 2.0**-13], bytes([0x58, 0xE0, 0x7F, 0x01]), 18, None),
    (28, "float8_e5m2fnuz", [1.0, -2.0, 57344.0, 2.0**-17], bytes([0x40, 0xC4, 0x7F, 0x01]), 18, None),
    (29, "int4", [0, -1, 7, -8], bytes([0x00, 0xFF, 0x07, 0x08]), 7, varints(0, -1, 7, -8)),
    (30, "uint4", [0, 1, 8, 15], bytes([0x00, 0x01, 0x08, 0xFF]), 7, varints(0, 1, 8, 15)),
    (31, "int2", [0, -1, 1, -2], bytes([0x00, 0xFF, 0x01, 0x02]), 7, varints(0, -1, 1, -2)),
    (32, "uint2", [0, 1, 2, 3], bytes([0x00, 0x01, 0x02, 0xFF]), 7, varints(0, 1, 2, 3)),
    (33, "float4_e2m1fn", [1.0, -6.0, 0.5, 3.0], bytes([0x02, 0x0F, 0x01, 0xF5]), 18, None),
]
ids = [f"{case[0]}-{case[1]}" for case in PLAIN + BITS]


def forms(case: tuple) -> tuple[bytes, bytes]:
    """Put a case's [2, 2] tensor together as content and as list: that of the case, the content or the varints."""
    number, _, values, content, list_field, listed = case
    payload = content if listed is None else varints(*values) if listed is ... else listed
    return tensor(number, (2, 2), field(4, content)), tensor(number, (2, 2), field(list_field, payload))


def assert_same_bits(got: np.ndarray, expected: np.ndarray) -> None:
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    assert got.tobytes() == expected.tobytes()


@pytest.mark.parametrize("case", PLAIN, ids=ids[: len(PLAIN)])
def test_every_numpy_dtype(case):
    number, name, values, content, *_ = case
    expected = np.array(values, name).reshape(2, 2)
    for data in forms(case):
        assert_same_bits(to_array(data), expected)
        assert_same_bits(to_array(message_class("TensorProto").FromString(data)), expected)
    reference = tensor(number + 100, (2, 2), field(4, content))
    assert_same_bits(to_array(reference), expected)
    assert_same_bits(stack([content, content[::-1] if number == 4 else content], number, (4,))[0], expected.reshape(4))


@needs_ml_dtypes
@pytest.mark.parametrize("case", BITS, ids=ids[len(PLAIN) :])
def test_every_dtype_of_ml_dtypes(case):
    import ml_dtypes

    number, name, values, content, *_ = case
    for data in forms(case):
        got = to_array(data)
        assert (got.dtype, got.shape) == (np.dtype(getattr(ml_dtypes, name)), (2, 2))
        np.testing.assert_array_equal(got.astype(np.float64).ravel(), values)
        assert (got == np.array(values).astype(got.dtype).reshape(2, 2)).all()  # by its bits, too
        got[0, 0] = 0  # the array is the caller's own
    assert stack([content] * 3, number, (4,)).astype(np.float64).tolist() == [values] * 3


@pytest.mark.usefixtures("without_ml_dtypes")
@pytest.mark.parametrize("case", BITS, ids=ids[len(PLAIN) :])
def test_dtypes_of_ml_dtypes_without_it(case):
    number, name, values, content, *_ = case
    if "float8" in name or "float4" in name:
        for data in forms(case):
            with pytest.raises(
                ValueError, match=rf"^the tensor's dtype {name} needs the package ml_dtypes: install it"
            ):
                to_array(data)
        with pytest.raises(ValueError, match="needs the package ml_dtypes"):
            stack([content], number, (4,))
        return
    kind = np.dtype({"b": "float32", "i": "int8", "u": "uint8"}[name[0]])
    for data in forms(case):
        assert_same_bits(to_array(data), np.array(values, kind).reshape(2, 2))
    assert_same_bits(stack([content], number, (4,)), np.array([values], kind))


@needs_ml_dtypes
def test_ml_dtypes_too_old_for_a_dtype_counts_as_missing(monkeypatch):
    import ml_dtypes

    monkeypatch.delattr(ml_dtypes, "float4_e2m1fn")
    with pytest.raises(ValueError, match="float4_e2m1fn needs the package ml_dtypes"):
        to_array(tensor(33, (1,), field(4, b"\x01")))


def test_strings_are_bytes_in_an_object_array():
    strings = [b"a\0", b"", b"\xff\xfe", b"d" * 200]
    got = to_array(tensor(7, (2, 2), *(field(8, s) for s in strings)))
    assert got.dtype == object
    assert got.tolist() == [strings[:2], strings[2:]]


def test_numbers_are_taken_whatever_way_the_list_is_written():
    unpacked = b"".join(b"\x38" + varint(v) for v in (1, -2))
    assert to_array(tensor(3, (4,), unpacked, field(7, varints(3, -4)))).tolist() == [1, -2, 3, -4]


def test_integers_beyond_their_dtype_wrap_as_in_c():
    assert to_array(tensor(4, (3,), field(7, varints(256, -1, 300)))).tolist() == [0, 255, 44]
    assert to_array(tensor(19, (1,), field(13, varints(-0x4400)))).tolist() == [-1.0]  # the bits 0xBC00, sign-extended


def test_any_byte_but_zero_is_true():
    got = to_array(tensor(10, (3,), field(4, b"\x00\x02\xff")))
    assert got.tobytes() == b"\x00\x01\x01"


def test_the_array_is_the_caller_s_own():
    for data in (tensor(1, (1,), field(4, b"\0\0\0\0")), tensor(1, (1,), field(5, b"\0\0\0\0"))):
        to_array(data)[0] = 1
    stack([b"\0\0\0\0"], 1, (1,))[0] = 1


# Short and long lists -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (tensor(1, (3,), field(5, struct.pack("<f", 2.5))), [2.5, 2.5, 2.5]),
        (tensor(3, (5,), field(7, varints(7, 9))), [7, 9, 9, 9, 9]),
        (tensor(7, (3,), field(8, b"a"), field(8, b"b")), [b"a", b"b", b"b"]),
        (tensor(7, (3,), field(8, b"a")), [b"a", b"a", b"a"]),
        (tensor(8, (3,), field(9, struct.pack("<4f", 1, 2, 3, 4))), [1 + 2j, 3 + 4j, 3 + 4j]),
        (tensor(19, (2,), field(13, varints(0x3C00))), [1.0, 1.0]),
        (tensor(10, (2,), field(11, b"\x01")), [True, True]),
        (tensor(1, (2,)), [0.0, 0.0]),
        (tensor(7, (2,)), [b"", b""]),
        (tensor(8, (1,)), [0j]),
        (tensor(10, (2,)), [False, False]),
        (tensor(9, None), 0),
        (tensor(7, None), b""),
        (tensor(1, None, field(5, struct.pack("<f", 2.5))), 2.5),
        (tensor(1, (0, 3)), []),
        (tensor(1, (0,), field(5, struct.pack("<f", 2.5))), []),
        (tensor(1, (2, 0)), [[], []]),
        (tensor(1, (1, 1), field(5, struct.pack("<f", 2.5))), [[2.5]]),
    ],
)
def test_short_lists_are_filled_with_their_last_value_and_empty_ones_stand_for_zeros(data, expected):
    got = to_array(data)
    assert got.tolist() == expected
    assert got.shape == shape_of(message_class("TensorProto").FromString(data).tensor_shape.SerializeToString())


def test_the_list_of_another_dtype_does_not_count():
    assert to_array(tensor(2, (2,), field(5, struct.pack("<f", 2.5)))).tolist() == [0.0, 0.0]


def test_content_comes_before_lists():
    both = tensor(6, (2,), field(7, varints(1, 2)), field(4, b"\x03\x04"))
    assert to_array(both).tolist() == [3, 4]


# Refusals -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (tensor(1, (-1, 3)), "the tensor's shape is not fully known: [-1, 3]"),
        (b"\x08\x01" + field(2, b"\x18\x01"), "the tensor's shape is not fully known: unknown rank"),
        (
            tensor(1, (2, 2), field(4, b"\0" * 15)),
            "the tensor's content does not fit float32 of shape [2, 2]: expected 16 bytes, found 15",
        ),
        (tensor(1, (0,), field(4, b"\0" * 4)), "expected 0 bytes, found 4"),
        (tensor(9, (2**40,), field(4, b"\0" * 8)), f"expected {2**43} bytes, found 8"),
        (
            tensor(6, (2,), field(7, varints(1, 2, 3))),
            "the tensor lists 3 values: too many for shape [2] of 2 elements",
        ),
        (
            tensor(7, None, field(8, b"a"), field(8, b"b")),
            "the tensor lists 2 values: too many for shape [] of 1 elements",
        ),
        (tensor(6, (0,), field(7, varints(1, 2))), "the tensor lists 2 values: too many for shape [0] of 0 elements"),
        (tensor(8, (2,), field(9, b"\0" * 12)), "the tensor lists 3 parts of complex numbers: a real part has no"),
        (
            tensor(1, (2**40,), field(5, b"\0" * 4)),
            f"the tensor's shape [{2**40}] claims {2**40} elements of which 1 are there: not more than 268435456 bytes",
        ),
        (tensor(10, (2**62, 2**62, 2**62)), f"claims {2**186} elements of which 0 are there"),
        (tensor(7, (2**25 + 1,), field(8, b"a")), "not more than 268435456 bytes are filled in"),
        (tensor(7, (1,), field(4, b"a")), "a tensor of strings has no content of fixed width"),
        (tensor(0, ()), "the tensor's dtype invalid holds no values that can be decoded"),
        (b"", "the tensor's dtype invalid holds no values"),
        (tensor(20, ()), "the tensor's dtype resource holds no values"),
        (tensor(121, ()), "the tensor's dtype variant holds no values"),
        (tensor(99, ()), "the tensor's dtype unknown (99) holds no values"),
        (tensor(1, (1,) * 70, field(5, b"\0" * 4)), "64"),
        (tensor(1, (0, 2**62, 2**62)), "too big"),
        (b"\x08\x01\x12\x7f", "the 4 bytes are no TensorProto message: "),
    ],
)
def test_refusals_say_why(data, reason):
    with pytest.raises(ValueError) as error:
        to_array(data)
    assert reason in str(error.value)


def test_stack_refuses_what_does_not_fit():
    with pytest.raises(ValueError) as error:
        stack([b"\0" * 8, b"\0" * 7, b"\0" * 9], 1, (2,))
    assert str(error.value) == (
        "the contents of 2 of 3 tensors do not fit float32 of shape [2]: expected 8 bytes each, found 7 at index 1"
    )
    with pytest.raises(ValueError, match="has no content of fixed width"):
        stack([b""], 7, (0,))
    with pytest.raises(ValueError, match="dtype variant holds no values"):
        stack([], 21, ())


# Stacks ---------------------------------------------------------------------------------------------------------------


def test_a_stack_of_nothing_has_shape_and_dtype():
    assert_same_bits(stack([], 2, (30, 3)), np.empty((0, 30, 3)))
    assert_same_bits(stack([b"", b""], 3, (0, 3)), np.empty((2, 0, 3), np.int32))


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 5), st.lists(st.integers(0, 3), max_size=3), st.sampled_from(PLAIN), st.randoms())
def test_a_stack_is_its_tensors_one_by_one(n, shape, case, random):
    size = int(np.prod(shape)) * np.dtype(case[1]).itemsize
    contents = [random.randbytes(size) for _ in range(n)]
    singly = [to_array(tensor(case[0], tuple(shape), field(4, content))) for content in contents]
    got = stack(contents, case[0], tuple(shape))
    assert got.shape == (n, *shape)
    assert got.tobytes() == b"".join(array.tobytes() for array in singly)


# Shapes and names -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "shape", "count"),
    [
        (b"", (), 1),
        (b"\x12\x00", (0,), 0),
        (shape_bytes(30, 3), (30, 3), 90),
        (shape_bytes(0, 3), (0, 3), 0),
        (shape_bytes(300, 2**40, 2**40), (300, 2**40, 2**40), 300 * 2**80),
        (shape_bytes(-1, 3), None, -1),
        (shape_bytes(3, -2), None, -1),
        (shape_bytes(3) + b"\x18\x01", None, -1),
        (b"\x18\x00" + shape_bytes(3), (3,), 3),
        (field(2, b"\x08\x05" + field(2, b"batch")), (5,), 5),
        (field(2, b"\x08\x05\x08\x06"), (6,), 6),
        (field(2, b"\x08\x85\x00"), (5,), 5),
    ],
)
def test_shapes(data, shape, count):
    assert shape_of(data) == shape
    assert element_count(data) == count


@pytest.mark.parametrize("data", [b"\x12", b"\x12\x03\x08\x05", b"\x12\x02\x08\x85", b"\x12\x03\x08\x05\x08", b"\xff"])
def test_malformed_shapes_are_refused(data):
    with pytest.raises(ValueError, match=rf"^the {len(data)} bytes are no TensorShapeProto message"):
        shape_of(data)
    with pytest.raises(ValueError, match="are no TensorShapeProto message"):
        element_count(data)


size = st.one_of(st.integers(-2, 300), st.integers(-(2**63), 2**63 - 1))
plain_dim = size.map(lambda value: b"\x08" + varint(value))
pieces = st.one_of(
    plain_dim.map(lambda dim: field(2, dim)),
    st.just(b"\x12\x00"),
    st.builds(
        lambda dim, extra: field(2, dim + extra), plain_dim, st.sampled_from([b"\x12\x01n", b"\x08\x04", b"\x10"])
    ),
    st.sampled_from([b"\x18\x01", b"\x18\x00", b"\x12\x02\x08", b"\x12\x0c\x08" + b"\xff" * 10 + b"\x01"]),
    st.binary(max_size=4),
)


@settings(deadline=None, max_examples=200)
@given(st.lists(pieces, max_size=4).map(b"".join))
@example(field(2, b"\x08" + b"\xff" * 9 + b"\x7f"))
@example(field(2, b"\x08\xff" + b"\x80" * 8 + b"\x02"))
def test_shapes_read_without_protobuf_are_those_read_with_it(data):
    from google.protobuf.message import DecodeError

    try:
        message = message_class("TensorShapeProto").FromString(data)
    except DecodeError:
        with pytest.raises(ValueError, match="are no TensorShapeProto message"):
            shape_of(data)
        return
    sizes = [dim.size for dim in message.dim]
    unknown = message.unknown_rank or any(value < 0 for value in sizes)
    assert shape_of(data) == (None if unknown else tuple(sizes))


def test_names_of_dtypes_are_those_of_tensorflow_s_numbers():
    enum = message_class("TensorProto").DESCRIPTOR.fields_by_name["dtype"].enum_type
    spelled = {"float": "float32", "double": "float64", "half": "float16"}
    names = {value.number: value.name.removeprefix("DT_").lower() for value in enum.values}
    for number, name in names.items():
        base = name.removesuffix("_ref")
        assert dtype_name(number) == spelled.get(base, base)
    assert [dtype_name(n) for n in (34, 134, -1)] == ["unknown (34)", "unknown (134)", "unknown (-1)"]


# Real logs ------------------------------------------------------------------------------------------------------------


def real_tensors(name: str, run: str) -> dict:
    """Collect the tensors of a run by tag: [[wall time, step, TensorProto], ...]."""
    found = {}
    for path in sorted((DATA / "logs" / name / run).glob("*tfevents*")):
        data, at = path.read_bytes(), 0
        while at < len(data):
            (length,) = struct.unpack_from("<Q", data, at)
            event = message_class("Event").FromString(data[at + 12 : at + 12 + length])
            at += 16 + length
            for value in event.summary.value:
                if value.WhichOneof("value") == "tensor":
                    found.setdefault(value.tag.decode(), []).append([event.wall_time, event.step, value.tensor])
    return found


def test_histograms_of_a_real_log_equal_what_tensorboard_serves():
    with gzip.open(DATA / "expected" / "tf2.json.gz", "rt", encoding="utf-8") as file:
        served = json.load(file)["histograms"]["data"]
    checked = 0
    for run, tags in served.items():
        logged = real_tensors("tf2", run)
        for tag, points in tags.items():
            got = [[wall_time, step, to_array(value).tolist()] for wall_time, step, value in logged[tag]]
            assert str(got) == str(points).replace("'NaN'", "nan")
            tensors = [value for *_, value in logged[tag]]
            if {len(t.tensor_content) for t in tensors} == {len(tensors[0].tensor_content)}:
                stacked = stack([t.tensor_content for t in tensors], tensors[0].dtype, to_array(tensors[0]).shape)
                assert str(stacked.tolist()) == str([point[2] for point in points]).replace("'NaN'", "nan")
                checked += len(points)
    assert checked > 0


def test_pr_curves_of_a_real_log_equal_what_tensorboard_serves():
    with gzip.open(DATA / "expected" / "torch.json.gz", "rt", encoding="utf-8") as file:
        served = json.load(file)["pr_curves"]["data"]["adam-1e-2"]["is_three"]["adam-1e-2"]
    rows = ("true_positives", "false_positives", "true_negatives", "false_negatives", "precision", "recall")
    curves = [to_array(value) for *_, value in real_tensors("torch", "adam-1e-2")["is_three"]]
    assert len(curves) == len(served)
    for curve, point in zip(curves, served, strict=True):
        assert (curve.shape, curve.dtype) == ((6, 21), np.float32)
        kept = len(point["thresholds"])  # TensorBoard cuts thresholds without a positive off
        assert curve[:, :kept].tolist() == [point[row] for row in rows]


def test_tensors_of_a_real_log_keep_their_dtype():
    decoded = {tag: [to_array(value) for *_, value in rows] for tag, rows in real_tensors("torch", "odd").items()}
    assert {tag: {(array.dtype.name, array.shape) for array in arrays} for tag, arrays in decoded.items()} == {
        "new_style": {("float32", ())},
        "double": {("float64", ())},
    }
