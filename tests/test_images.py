"""Images: bytes untouched, sizes from the bytes, pixels, and the grid that shows them."""

from __future__ import annotations

import hashlib
import io
import struct
import tracemalloc
import warnings
import zlib

import numpy as np
import pandas as pd
import pytest
from conftest import expected, log_path
from event_bytes import field, metadata_of, timed
from hypothesis import given, settings
from hypothesis import strategies as st
from media_logs import Value, encoded, image, pixels, read, start, strings, tensor, write
from PIL import Image as Pillow

import tbframe
from tbframe import AccessorError, RestartWarning, UndecodableValueWarning
from tbframe.kinds.image_headers import ImageHeader, read_header
from tbframe.kinds.parts import reader_of
from tbframe.plotting.images import show
from tbframe.verbs.image_verbs import decode, to_xarray

COLUMNS = ["run", "tag", "step", "wall_time", "sample", "width", "height", "format", "data"]
PNG = encoded(pixels(4, 6, 3))


def batch(step: int, values: list[bytes], shape: list[int] | None = None, tag: str = "batch") -> Value:
    return strings(step, values, [len(values)] if shape is None else shape, "images", tag)


def header(data: bytes) -> ImageHeader:
    return read_header(reader_of(data), len(data))


def gif(frames: int, height: int = 5, width: int = 7) -> bytes:
    first, *rest = [Pillow.fromarray(pixels(height, width, 3, seed=i)) for i in range(frames)]
    file = io.BytesIO()
    first.save(file, "gif", save_all=True, append_images=rest)
    return file.getvalue()


def frame_of(*images: bytes, **columns) -> pd.DataFrame:
    steps = range(len(images))
    base = pd.DataFrame({"run": "a", "tag": "b", "step": steps, "sample": 0, "data": pd.Series(images, dtype=object)})
    return base.assign(**columns)


# What TensorBoard serves ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("server", ["", "-fast"])
def test_every_image_that_tensorboard_serves(log, server):
    answer = expected(log + server)["images"]
    served = {
        (run, tag, row["step"], row["wall_time"], row["sample"], row["blob"]["content_type"], row["blob"]["sha256"])
        for run, by_tag in answer["data"].items()
        for tag, rows in by_tag.items()
        for row in rows
    }
    frame = read("images", log_path(log))
    found = {
        (*row[:5], f"image/{row[5]}", hashlib.sha256(row[6]).hexdigest())
        for row in frame[["run", "tag", "step", "wall_time", "sample", "format", "data"]].itertuples(index=False)
    }
    assert found == served
    assert len(frame) == len(served)
    samples = (frame.groupby(["run", "tag"], observed=True)["sample"].max() + 1).to_dict()
    assert samples == {
        (run, tag): info["samples"] for run, tags in answer["tags"].items() for tag, info in tags.items()
    }


def test_sizes_are_those_of_the_bytes(log):
    frame = read("images", log_path(log))
    sizes = [Pillow.open(io.BytesIO(data)).size for data in frame["data"]]
    assert list(zip(frame["width"], frame["height"], strict=True)) == sizes


@pytest.mark.parametrize("window_size", [1 << 12, 1 << 16])
def test_without_data_all_but_the_bytes_is_the_same(log, window_size):
    opened = tbframe.open(log_path(log))
    opened._window_size = window_size
    listed = read("images", opened, data=False)
    pd.testing.assert_frame_equal(listed, read("images", opened).drop(columns="data"))


def test_columns_and_order():
    frame = read("images", log_path("tf2"))
    assert frame.columns.tolist() == COLUMNS
    dtypes = frame.dtypes.astype(str).to_dict()
    assert dtypes.pop("run") == dtypes.pop("tag") == "category"
    assert list(dtypes.values()) == ["int64", "float64", "int64", "Int64", "Int64", "object", "object"]
    digits = frame[frame["tag"] == "digits"]
    assert digits["step"].tolist() == [0] * 4 + [1] * 4 + [2] * 4
    assert digits["sample"].tolist() == [0, 1, 2, 3] * 3
    assert isinstance(frame.index, pd.RangeIndex)
    assert frame.attrs["tbframe"]["kind"] == "images"


@pytest.mark.parametrize("data", [True, False])
def test_a_log_without_images(tmp_path, data):
    frame = read("images", write(tmp_path, tensor(0, np.zeros((2, 2)), "matrix")), data=data)
    assert len(frame) == 0
    assert frame.columns.tolist() == (COLUMNS if data else COLUMNS[:-1])
    full = read("images", log_path("tf2"), data=data)
    assert frame.dtypes.drop(["run", "tag"]).equals(full.dtypes.drop(["run", "tag"]))
    assert all(isinstance(frame[name].dtype, pd.CategoricalDtype) for name in ("run", "tag"))


# Reading little -------------------------------------------------------------------------------------------------------


class Counting(io.FileIO):
    taken = 0

    def read(self, n=-1, /):
        data = super().read(n)
        Counting.taken += len(data)
        return data


def test_listing_reads_headers_only(tmp_path, monkeypatch):
    big = [pixels(100, 300, 3, seed=i).tobytes() for i in range(8)]
    framed = [PNG[:60] + data for data in big]
    log = tbframe.open(write(tmp_path, batch(0, [b"300", b"100", *framed]), *(image(i, framed[0]) for i in range(5))))
    log.tags()
    monkeypatch.setattr("tbframe.storage.Source.open", lambda source: Counting(source.path))
    Counting.taken = 0
    listed = read("images", log, data=False)
    assert len(listed) == 13
    assert set(zip(listed["width"], listed["height"], listed["format"], strict=True)) == {(6, 4, "png")}
    assert 0 < Counting.taken <= 13 * 2 * 512
    assert read("images", log)["data"].tolist() == [*framed, *[framed[0]] * 5]
    assert Counting.taken > 13 * 90_000


def test_a_damaged_payload_is_listed_but_never_returned(tmp_path):
    path = write(tmp_path, image(0, PNG), image(1, PNG * 2000), image(2, PNG)) / "run" / "events.out.tfevents.1.host"
    content = bytearray(path.read_bytes())
    content[content.index(PNG * 2) + len(PNG) * 1000] ^= 1
    path.write_bytes(content)
    log = tbframe.open(tmp_path)
    assert read("images", log, data=False)["step"].tolist() == [0, 1, 2]
    assert read("images", log)["step"].tolist() == [0, 2]
    with pytest.warns(tbframe.DamagedFileWarning, match="the data checksum of a record does not match"):
        assert log.runs()["damaged"].tolist() == [1]


# Headers --------------------------------------------------------------------------------------------------------------


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 300), st.integers(1, 300), st.sampled_from(["png", "jpeg", "gif", "bmp", "webp"]), st.data())
def test_headers_of_every_format(width, height, form, data):
    options = {}
    if form == "jpeg":
        options = {
            "progressive": data.draw(st.booleans()),
            "exif": b"Exif\0\0" + b"\xff\xc0" * data.draw(st.integers(0, 3000)),
        }
    if form == "webp":
        options = {"lossless": data.draw(st.booleans())}
    channels = data.draw(st.sampled_from([(), (3,), (4,)] if form in ("png", "webp", "bmp") else [(), (3,)]))
    file = encoded(pixels(height, width, *channels), form, **options)
    assert header(file) == (form, width, height)


@pytest.mark.parametrize("form", ["png", "jpeg", "gif", "bmp", "webp"])
def test_headers_that_are_cut_off(form):
    file = encoded(pixels(9, 5, 3), form)
    whole = header(file)
    forms = []
    for end in range(len(file)):
        found = header(file[:end])
        assert found in (whole, (form, None, None), ("", None, None))
        forms.append(found.format)
    assert forms == sorted(forms)  # once known, the format stays
    assert forms[16] == form


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from([b"", b"\x89PNG\r\n\x1a\n", b"GIF89a", b"\xff\xd8\xff", b"BM", b"RIFF\0\0\0\0WEBP"]),
    st.binary(max_size=80),
)
def test_headers_of_anything(magic, rest):
    form, width, height = header(magic + rest)
    assert form in ("", "png", "gif", "jpeg", "bmp", "webp")
    assert (width is None) == (height is None)


def test_headers_seldom_seen():
    assert header(b"BM" + bytes(12) + struct.pack("<IHH", 12, 3, 4) + bytes(10)) == ("bmp", 3, 4)  # OS/2
    assert header(b"BM" + bytes(12) + struct.pack("<Iii", 40, 3, -4) + bytes(10)) == ("bmp", 3, 4)  # from the top
    assert header(b"RIFF\0\0\0\0WEBPVP8X" + bytes(8) + b"\x02\0\0\x03\0\0") == ("webp", 3, 4)
    sof = b"\xff\xc0\0\x0b\x08\0\x04\0\x03\x01\x01\x11\0"
    assert header(b"\xff\xd8\xff\xff\xff\xd0" + sof) == ("jpeg", 3, 4)  # fill bytes, and a marker that stands alone
    assert header(b"\xff\xd8\xff\xc4\0\x02" + sof) == ("jpeg", 3, 4)  # tables are no frame
    assert header(b"\xff\xd8\xff\xda\0\x02" + sof) == ("jpeg", None, None)  # behind the scan
    assert header(b"\xff\xd8\xff\xc0\0\x0b\x08\0\0\0\x03") == ("jpeg", None, None)  # the height comes later
    assert header(b"\xff\xd8" + b"\xff\xe0\0\x02" * 5000 + sof) == ("jpeg", None, None)  # nobody does that
    assert header(b"") == header(b"<svg/>") == ("", None, None)


# Traps ----------------------------------------------------------------------------------------------------------------


def undecodable(tmp_path, *values: Value) -> list[str]:
    with pytest.warns(UndecodableValueWarning) as caught:
        frame = read("images", write(tmp_path, *values))
    assert frame["step"].tolist() == [99] * len(frame)
    assert len(frame) == 1
    return [str(warning.message) for warning in caught]


def test_one_string_stands_for_as_many_as_the_shape_says(tmp_path):
    frame = read("images", write(tmp_path, batch(0, [PNG], [4])))
    assert frame["data"].tolist() == [PNG, PNG]  # the first two stand for width and height
    assert frame["sample"].tolist() == [0, 1]


@pytest.mark.parametrize("shape", [[3], [5], [9]])
def test_a_batch_that_disagrees_with_its_shape(tmp_path, shape):
    log = write(tmp_path, batch(0, [b"6", b"4", PNG, b"x", PNG[:40]], shape))
    frame = read("images", log)
    assert frame["data"].tolist() == [PNG, b"x", PNG[:40]]
    assert frame["format"].tolist() == ["png", "", "png"]
    pd.testing.assert_frame_equal(frame.drop(columns="data"), read("images", log, data=False))


def test_bytes_that_are_no_image(tmp_path):
    log = write(tmp_path, image(0, b""), image(1, b"no image"), image(2, PNG[:12]), batch(3, [b"6", b"4", b""]))
    for data in (True, False):
        frame = read("images", log, data=data).sort_values("step", kind="stable")
        assert frame["format"].tolist() == ["", "", "png", ""]
        assert frame["width"].isna().all()
        assert frame["height"].isna().all()
    assert read("images", log).sort_values("step")["data"].tolist() == [b"", b"no image", PNG[:12], b""]


@pytest.mark.parametrize("data", [True, False])
def test_a_header_ends_where_the_image_does(tmp_path, data):
    frame = read("images", write(tmp_path, batch(3, [b"6", b"4", b"GIF89a", PNG])), data=data)
    assert frame["format"].tolist() == ["gif", "png"]
    assert frame["width"].fillna(-1).tolist() == [-1, 6]


def test_bytes_are_not_kept_twice(tmp_path):
    log = tbframe.open(write(tmp_path, *(image(i, PNG + bytes(100_000)) for i in range(40))))
    log.tags()
    tracemalloc.start()
    try:
        frame = read("images", log)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert 4_000_000 < sum(map(len, frame["data"])) < peak < 6_000_000


def test_a_batch_of_none(tmp_path):
    assert len(read("images", write(tmp_path, batch(0, [b"6", b"4"])))) == 0


def test_values_that_hold_no_images(tmp_path):
    good = batch(99, [b"6", b"4", PNG], tag="t")
    some = [
        (batch(5, [], [0], "t"), "expected a list of width, height and images, found 0 strings of shape [0]"),
        (batch(5, [PNG], [], "t"), "expected a list of width, height and images, found 1 strings of shape []"),
        (
            batch(5, [b"6", b"4", PNG, PNG], [2, 2], "t"),
            "expected a list of width, height and images, found 4 strings of shape [2, 2]",
        ),
        (
            batch(5, [PNG], [2**40], "t"),
            "claims 1099511627775 strings that are not there: not more than 67,108,864 bytes",
        ),
        (batch(5, [PNG] * 4, [-1], "t"), "the shape of the tensor of strings is not fully known"),
        (tensor(5, np.float32(1), "t", "images"), "expected a tensor of strings, found float32 of shape []"),
        (tensor(5, np.zeros((2, 3)), "t", "images"), "expected a tensor of strings, found float64 of shape [2, 3]"),
        (Value(5, "t", {"tensor": {"dtype": 7, "tensor_content": b"xx"}}, "images"), "content of fixed width"),
    ]
    for i, (bad, reason) in enumerate(some):
        (message,) = undecodable(tmp_path / str(i), bad, good)
        assert message.startswith("images: run 'run', tag 't': 1 value could not be decoded, first at step 5: ")
        assert reason in message


def test_one_warning_for_each_run_and_tag(tmp_path):
    bad = [tensor(step, np.float32(1), tag, "images") for step in (7, 8, 9) for tag in ("t", "u")]
    messages = undecodable(tmp_path, *bad, batch(99, [b"", b"", PNG], tag="t"))
    assert [message.split(": expected")[0] for message in messages] == [
        "images: run 'run', tag 't': 3 values could not be decoded, first at step 7",
        "images: run 'run', tag 'u': 3 values could not be decoded, first at step 7",
    ]


def test_messages_that_protobuf_merges(tmp_path):
    """An image given twice in one value, and a tensor whose shape comes in two parts."""
    twice = b"".join(field(4, b"\x08\x05" + field(4, data)) for data in (PNG, b"second"))
    listed = b"".join(field(8, data) for data in (b"6", b"4", PNG))
    split = field(8, b"\x08\x07" + field(2, b"") + listed + field(2, b"\x12\x02\x08\x03")) + field(
        9, metadata_of(b"images")
    )
    events = [timed(step, field(5, field(1, field(1, b"t") + body))) for step, body in enumerate((twice, split))]
    log = write(tmp_path, *events)
    assert read("images", log)["data"].tolist() == [b"second", PNG]
    assert read("images", log, data=False)["format"].tolist() == ["", "png"]


@pytest.mark.parametrize("data", [True, False])
def test_a_broken_message(tmp_path, data):
    value = field(1, b"t") + field(4, b"\x08\x05\x22\x7fx")
    with pytest.warns(UndecodableValueWarning, match=r"tag 't': 1 value .*: the 5 bytes are no Summary.Image message"):
        frame = read("images", write(tmp_path, timed(1, field(5, field(1, value))), image(2, PNG)), data=data)
    assert frame["step"].tolist() == [2]


def test_restarts(tmp_path):
    values = [batch(step, [b"", b"", PNG, bytes([step])]) for step in (0, 1)]
    log = write(tmp_path, *values, start(1), batch(1, [b"", b"", b"new"]))
    with pytest.warns(RestartWarning, match="1 row that a later start"):
        assert read("images", log)["data"].tolist() == [PNG, b"\0", b"new"]
    marked = read("images", log, restarts="mark")
    assert marked.columns.tolist() == [*COLUMNS, "session", "superseded"]
    assert marked["superseded"].tolist() == [False, False, True, True, False]
    assert marked["session"].tolist() == [0, 0, 0, 0, 1]


# Pixels ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", [(), (2,), (3,), (4,)])
def test_png_pixels_come_back(channels):
    array = pixels(4, 6, *channels)
    found = decode(frame_of(encoded(array)))
    assert found.name == "pixels"
    assert found[0].dtype == np.uint8
    assert np.array_equal(found[0], array.reshape(4, 6, -1))


def test_real_images_decode(log):
    frame = read("images", log_path(log)).sample(frac=1, random_state=0)
    found = decode(frame)
    assert found.index.equals(frame.index)
    for row, array in zip(frame.itertuples(), found, strict=True):
        want = np.asarray(Pillow.open(io.BytesIO(row.data)))
        assert np.array_equal(array, want.reshape(row.height, row.width, -1))


def test_other_modes():
    gray16 = (np.arange(24, dtype=np.uint16) * 2700).reshape(4, 6)
    palette = Pillow.fromarray(pixels(4, 6, 3)).quantize(8)
    plain, transparent = io.BytesIO(), io.BytesIO()
    palette.save(plain, "png")
    palette.save(transparent, "png", transparency=0)
    one_bit = encoded(pixels(4, 6) > 99)
    found = decode(frame_of(encoded(gray16), plain.getvalue(), transparent.getvalue(), one_bit))
    assert found[0].dtype == np.uint16
    assert np.array_equal(found[0][..., 0], gray16)
    assert np.array_equal(found[1], np.asarray(palette.convert("RGB")))
    assert found[2].shape == (4, 6, 4)
    assert set(np.unique(found[2][..., 3])) == {0, 255}
    assert np.array_equal(found[3][..., 0], np.where(pixels(4, 6) > 99, 255, 0))


def test_a_video_has_all_its_frames():
    found = decode(frame_of(gif(3)))[0]
    assert found.shape == (3, 5, 7, 3)
    want = [pixels(5, 7, 3, seed=i) for i in range(3)]
    distance = [[np.abs(frame.astype(int) - other.astype(int)).mean() for other in want] for frame in found]
    assert np.argmin(distance, axis=1).tolist() == [0, 1, 2]
    assert decode(frame_of(gif(1)))[0].shape == (5, 7, 3)


def test_what_is_no_image_is_none_and_said():
    frame = frame_of(PNG, b"", b"no image", PNG[:50], tag=["b", "b", "b", "c"]).set_axis([9, 8, 7, 7])
    with pytest.warns(UndecodableValueWarning) as caught:
        found = decode(frame)
    assert found.index.tolist() == [9, 8, 7, 7]
    assert [array is None for array in found] == [False, True, True, True]
    messages = [str(warning.message) for warning in caught]
    assert messages[0] == (
        "images: run 'a', tag 'b': 2 values could not be decoded, first at step 1: the 0 bytes are no PNG, JPEG, GIF, "
        "BMP or WebP image"
    )
    assert messages[1].startswith(
        "images: run 'a', tag 'c': 1 value could not be decoded, first at step 3: the png image cannot"
    )


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(["png", "jpeg", "gif", "bmp", "webp"]), st.data())
def test_damaged_images_never_escape(form, data):
    file = bytearray(encoded(pixels(9, 11, 3), form))
    for _ in range(data.draw(st.integers(1, 4))):
        file[data.draw(st.integers(0, len(file) - 1))] = data.draw(st.integers(0, 255))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndecodableValueWarning)
        try:
            found = decode(frame_of(bytes(file[: data.draw(st.integers(len(file) // 2, len(file)))])))
        except ValueError as error:
            assert "MAX_IMAGE_PIXELS" in str(error)  # noqa: PT017
            return
    assert found[0] is None or found[0].ndim in (3, 4)


def test_bombs_are_refused():
    def chunk(name: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))

    size = struct.pack(">IIBBBBB", 60000, 50000, 8, 2, 0, 0, 0)
    bomb = (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", size) + chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b"")
    )
    with pytest.raises(
        ValueError, match=r"images: run 'a', tag 'b', step 1: the image has 60,000 × 50,000 pixels, more than PIL"
    ):
        decode(frame_of(PNG, bomb))


def test_an_animated_bomb_is_refused(monkeypatch):
    film = gif(40, 10, 10)
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", 3999)
    assert decode(frame_of(gif(39, 10, 10)))[0].shape == (39, 10, 10, 3)
    with pytest.raises(ValueError, match=r"10 × 10 pixels in 40 frames, more than .* = 3,999 allows: set that higher"):
        decode(frame_of(film))
    monkeypatch.setattr("PIL.Image.MAX_IMAGE_PIXELS", None)
    assert decode(frame_of(film))[0].shape == (40, 10, 10, 3)


# One array ------------------------------------------------------------------------------------------------------------


def test_to_xarray_of_a_batch():
    frame = read("images", log_path("tf2"), tags="digits")
    array = to_xarray(frame)
    assert array.name == "pixels"
    assert array.dims == ("step", "sample", "y", "x", "channel")
    assert array.shape == (3, 4, 8, 8, 1)
    assert (array["run"].item(), array["tag"].item()) == ("summary", "digits")
    assert array["run"].dtype == array["tag"].dtype == object  # which saves to netCDF and Zarr
    assert array["wall_time"].dims == ("step",)
    for row, image_ in zip(frame.itertuples(), decode(frame), strict=True):
        one = array.sel(step=row.step, sample=row.sample)
        assert np.array_equal(one, image_)
        assert one["wall_time"].item() == row.wall_time
    shuffled = to_xarray(frame.sample(frac=1, random_state=1)).sortby(["step", "sample"])
    assert shuffled.identical(array)


def test_to_xarray_of_several_series():
    frame = read("images", log_path("tf1"), runs="eval")
    array = to_xarray(frame)
    assert array.dims == ("tag", "step", "sample", "y", "x", "channel")
    assert array.shape == (3, 6, 1, 8, 8, 1)
    assert array["wall_time"].dims == ("tag", "step")
    row = frame.iloc[7]
    assert np.array_equal(array.sel(tag=row.tag, step=row.step, sample=0), decode(frame)[7])
    with pytest.raises(ValueError, match="108 images do not fill run 2 × tag 3 × step 30 × sample 1: select"):
        to_xarray(read("images", log_path("tf1")))


def test_to_xarray_keeps_steps_that_repeat():
    frames = [encoded(pixels(2, 2, seed=i)) for i in range(4)]
    array = to_xarray(frame_of(*frames, step=[5, 0, 5, 0]))
    assert array["step"].values.tolist() == [5, 0, 5, 0]
    assert all(np.array_equal(array[i, 0, ..., 0], pixels(2, 2, seed=i)) for i in range(4))
    with pytest.raises(
        ValueError, match=r"a step repeats within a run and tag. Keep one of each first: df.drop_duplicates"
    ):
        to_xarray(frame_of(*frames, step=[5, 5, 5, 0], tag=["a", "a", "b", "b"]))


def test_to_xarray_of_videos():
    assert to_xarray(frame_of(gif(3), gif(3))).dims == ("step", "sample", "frame", "y", "x", "channel")


@pytest.mark.filterwarnings("ignore::tbframe.UndecodableValueWarning")
def test_to_xarray_needs_one_size():
    other = encoded(pixels(4, 6))
    with pytest.raises(
        ValueError, match=r"images of one size, found 6 × 4 × 3 uint8 \(2\), 6 × 4 × 1 uint8 \(1\): select some"
    ):
        to_xarray(frame_of(PNG, other, PNG))
    with pytest.raises(ValueError, match=r"found 6 × 4 × 3 uint8 \(1\), no image \(1\)"):
        to_xarray(frame_of(PNG, b""))
    with pytest.raises(ValueError, match=r"3 frames of 7 × 5 × 3"):
        to_xarray(frame_of(PNG, gif(3)))


def test_to_xarray_of_nothing():
    assert to_xarray(frame_of()).sizes == {"run": 0, "tag": 0, "step": 0, "sample": 0, "y": 0, "x": 0, "channel": 0}


# The grid -------------------------------------------------------------------------------------------------------------


@pytest.fixture
def closing():
    from matplotlib import pyplot as plt

    yield
    plt.close("all")


def drawn(ax) -> np.ndarray:
    (artist,) = ax.get_images()
    return np.asarray(artist.get_array())


def headings(figure) -> list[str]:
    return [text.get_text() for ax in figure.axes if not ax.axison for text in ax.texts]


@pytest.mark.usefixtures("closing")
def test_show_a_batch():
    frame = read("images", log_path("tf2"), tags="digits")
    axes = show(frame)
    assert [ax.get_title() for ax in axes] == [f"step {step} · sample {i}" for step in range(3) for i in range(4)]
    for ax, want in zip(axes, decode(frame), strict=True):
        assert np.array_equal(drawn(ax), want[..., 0])
    assert headings(axes[0].figure) == ["summary · digits"]
    axes[0].figure.canvas.draw()
    boxes = [ax.get_position() for ax in axes]
    assert [len({round(box.y0, 3) for box in boxes}), len({round(box.x0, 3) for box in boxes})] == [3, 4]
    file = io.BytesIO()
    axes[0].figure.savefig(file)  # a whole figure, no part of one
    assert file.getvalue().startswith(b"\x89PNG")


@pytest.mark.usefixtures("closing")
def test_show_keeps_the_order_of_the_frame():
    frame = read("images", log_path("torch"), runs="adam-1e-2").sort_values("step", kind="stable")
    axes = show(frame)
    assert [ax.get_title() for ax in axes] == [f"step {step}" for step in frame["step"]]
    for ax, want in zip(axes, decode(frame), strict=True):
        assert np.array_equal(drawn(ax), want)
    assert headings(axes[0].figure) == ["adam-1e-2 · batch", "adam-1e-2 · sample"]


@pytest.mark.usefixtures("closing")
def test_show_names_images_that_are_alone():
    axes = show(read("images", log_path("tf2"), runs="keras/train"))
    assert [ax.get_title().split("\n")[0] for ax in axes] == ["keras/train"] * 4
    assert [ax.get_title().split("\n")[2] for ax in axes] == ["step 4"] * 4
    assert axes[0].get_title().split("\n")[1].endswith("bias/image")


@pytest.mark.usefixtures("closing")
def test_show_one_image():
    ax = show(frame_of(PNG))
    assert ax.get_title() == "step 0"
    assert np.array_equal(drawn(ax), pixels(4, 6, 3))


@pytest.mark.usefixtures("closing")
def test_show_at_most_so_many():
    frame = frame_of(*[encoded(pixels(2, 2, seed=i)) for i in range(30)])
    axes = show(frame, max_images=4, columns=2)
    assert [ax.get_title() for ax in axes] == ["step 0", "step 10", "step 19", "step 29"]
    assert axes[0].figure.get_suptitle() == "4 of 30 images"
    assert len(show(frame, max_images=None)) == 30
    assert show(frame, max_images=1).get_title() == "step 0"


@pytest.mark.usefixtures("closing")
def test_show_what_is_no_image_and_what_moves():
    frame = frame_of(b"", gif(3), encoded(pixels(4, 6, 2)), encoded(np.full((2, 2), 300, np.uint16)))
    with pytest.warns(UndecodableValueWarning, match="the 0 bytes are no"):
        empty, film, faint, deep = show(frame)
    assert not empty.get_images()
    assert [text.get_text() for text in empty.texts] == ["0 bytes that are\nno image"]
    assert film.get_xlabel() == "frame 1 of 3"
    assert drawn(film).shape == (5, 7, 3)
    assert np.array_equal(drawn(faint), pixels(4, 6, 2)[..., [0, 0, 0, 1]])
    assert deep.get_images()[0].get_clim() == (0, 65535)


@pytest.mark.usefixtures("closing")
def test_show_in_given_axes():
    from matplotlib import pyplot as plt

    axes = plt.subplots(1, 2)[1]
    frame = frame_of(PNG, PNG, run="$x_1$")
    assert show(frame, ax=axes).tolist() == axes.tolist()
    assert axes[1].get_title() == "$x_1$\nb\nstep 1"
    assert not axes[1].title.get_parse_math()
    with pytest.raises(ValueError, match="ax: 1 Axes for 2 panels"):
        show(frame, ax=axes[:1])


def test_show_refuses_nonsense():
    with pytest.raises(ValueError, match="max_images=0: expected at least 1"):
        show(frame_of(PNG), max_images=0)
    with pytest.raises(ValueError, match="columns=-1: expected at least 1"):
        show(frame_of(PNG), columns=-1)
    with pytest.raises(ValueError, match="no rows"):
        show(frame_of())


@pytest.mark.parametrize("verb", [decode, to_xarray, show])
def test_frames_without_bytes(verb):
    listed = read("images", log_path("tf2"), data=False)
    with pytest.raises(AccessorError, match=r"read them with tbframe.images\(logdir, data=True\)"):
        verb(listed)
    with pytest.raises(AccessorError, match=rf"{verb.__name__}\(\) needs the columns 'run', 'tag', 'step', 'data'"):
        verb(pd.DataFrame({"x": [1]}))
