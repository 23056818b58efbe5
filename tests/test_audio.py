"""Audio: clips untouched, what their headers tell, labels, and samples as numbers."""

from __future__ import annotations

import hashlib
import io
import math
import struct
import wave

import numpy as np
import pandas as pd
import pytest
from conftest import expected, log_path
from event_bytes import field, timed
from hypothesis import given, settings
from hypothesis import strategies as st
from media_logs import Value, clip, read, start, strings, tensor, write

import tbframe
from tbframe import AccessorError, RestartWarning, UndecodableValueWarning
from tbframe.kinds import wav
from tbframe.kinds.parts import reader_of
from tbframe.verbs.audio_verbs import decode

COLUMNS = ["run", "tag", "step", "wall_time", "sample", "sample_rate", "channels", "frames", "label", "format", "data"]


def wav_file(
    body: bytes, bits: int = 16, channels: int = 1, rate: int = 8000, encoding: int = 1, extra: bytes = b""
) -> bytes:
    """A WAV file, put together by hand."""
    width = channels * bits // 8
    form = struct.pack("<HHIIHH", encoding, channels, rate, rate * width, width, bits) + extra
    chunks = b"fmt " + struct.pack("<I", len(form)) + form + b"data" + struct.pack("<I", len(body)) + body
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


def by_the_standard_library(body: bytes, bits: int, channels: int, rate: int) -> bytes:
    file = io.BytesIO()
    with wave.open(file, "wb") as out:
        out.setnchannels(channels)
        out.setsampwidth(bits // 8)
        out.setframerate(rate)
        out.writeframes(body)
    return file.getvalue()


def header(data: bytes) -> wav.WavHeader:
    return wav.read_header(reader_of(data), len(data))


CLIP = wav_file(bytes(range(24)), channels=2, rate=44100)


def clips(step: int, values: list[bytes], shape: list[int] | None = None, tag: str = "clips") -> Value:
    return strings(step, values, [len(values)] if shape is None else shape, "audio", tag)


# What TensorBoard serves ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("server", ["", "-fast"])
def test_every_clip_that_tensorboard_serves(log, server):
    answer = expected(log + server)["audio"]
    served = {
        (run, tag, row["step"], row["wall_time"], row["sample"], row["blob"]["sha256"]): row["contentType"]
        for run, by_tag in answer["data"].items()
        for tag, rows in by_tag.items()
        for row in rows
    }
    frame = read("audio", log_path(log))
    found = {
        (*row[:5], hashlib.sha256(row[5]).hexdigest()): f"audio/{row[6]}"
        for row in frame[["run", "tag", "step", "wall_time", "sample", "data", "format"]].itertuples(index=False)
    }
    assert found.keys() == served.keys()
    assert len(frame) == len(served)
    # The Rust server does not say what the clips of TensorFlow 1 and PyTorch are; the Python server calls all of them WAV.
    unknown = server == "-fast" and log != "tf2"
    assert set(served.values()) == {"application/octet-stream" if unknown else "audio/wav"}
    assert set(found.values()) == {"audio/wav"}
    samples = (frame.groupby(["run", "tag"], observed=True)["sample"].max() + 1).to_dict()
    assert samples == {
        (run, tag): info["samples"] for run, tags in answer["tags"].items() for tag, info in tags.items()
    }


def test_what_the_headers_tell(log):
    frame = read("audio", log_path(log))
    for row in frame.itertuples():
        with wave.open(io.BytesIO(row.data)) as file:
            assert (row.sample_rate, row.channels, row.frames) == (
                file.getframerate(),
                file.getnchannels(),
                file.getnframes(),
            )
    assert set(frame["sample_rate"]) == {8000.0}
    assert set(frame["frames"]) == {1600 if log == "tf2" else 800}


@pytest.mark.parametrize("window_size", [1 << 12, 1 << 16])
def test_without_data_all_but_the_bytes_is_the_same(log, window_size):
    opened = tbframe.open(log_path(log))
    opened._window_size = window_size
    pd.testing.assert_frame_equal(read("audio", opened, data=False), read("audio", opened).drop(columns="data"))


def test_columns():
    frame = read("audio", log_path("tf2"))
    assert frame.columns.tolist() == COLUMNS
    dtypes = frame.dtypes.astype(str).tolist()
    assert dtypes[:2] == ["category", "category"]
    assert dtypes[2:] == ["int64", "float64", "int64", "float64", "Int64", "Int64", "object", "object", "object"]
    assert frame.attrs["tbframe"]["kind"] == "audio"


@pytest.mark.parametrize("data", [True, False])
def test_a_log_without_clips(tmp_path, data):
    frame = read("audio", write(tmp_path, tensor(0, np.zeros((2, 2)), "matrix")), data=data)
    full = read("audio", log_path("tf2"), data=data)
    assert len(frame) == 0
    assert frame.columns.equals(full.columns)
    assert frame.dtypes.drop(["run", "tag"]).equals(full.dtypes.drop(["run", "tag"]))


# Every form -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [True, False])
def test_clips_without_labels(tmp_path, data):
    frame = read("audio", write(tmp_path, clips(3, [CLIP, b"OggS..."])), data=data)
    assert frame["sample"].tolist() == [0, 1]
    assert frame["label"].tolist() == ["", ""]
    assert frame["format"].tolist() == ["wav", "ogg"]
    assert frame["sample_rate"].fillna(-1).tolist() == [44100.0, -1.0]
    assert frame["channels"].fillna(-1).tolist() == [2, -1]
    assert frame["frames"].fillna(-1).tolist() == [6, -1]
    if data:
        assert frame["data"].tolist() == [CLIP, b"OggS..."]


@pytest.mark.parametrize("data", [True, False])
def test_clips_with_labels(tmp_path, data):
    values = [CLIP, b"a *label*", b"", "\u00fc".encode(), CLIP, b"\xff"]
    frame = read("audio", write(tmp_path, clips(3, values, [3, 2])), data=data)
    assert frame["label"].tolist() == ["a *label*", "\u00fc", "\\xff"]
    assert frame["format"].tolist() == ["wav", "", "wav"]
    if data:
        assert frame["data"].tolist() == [CLIP, b"", CLIP]


def test_shapes_that_are_not_those_of_the_clips(tmp_path):
    log = write(
        tmp_path,
        clips(0, [CLIP], [3]),  # one string stands for three
        clips(1, [CLIP, b"x"], [5]),  # the list counts
        clips(2, [CLIP, b"x", b"y"], [2]),
        clips(3, [CLIP, b"label", CLIP], [2, 2]),  # the last label is missing
        clips(4, [CLIP], []),
        clips(5, [CLIP, b"label", b"?", CLIP, b"label 2", b"?"], [2, 3]),  # the first two of three
        clips(6, [CLIP], [0]),
        clips(7, [CLIP], [4, 0]),
        clips(8, []),
        clips(9, [CLIP], [2, 2]),
    )
    frame = read("audio", log)
    found = frame.groupby("step")[["data", "label"]].agg(list)
    assert found["data"].to_dict() == {
        0: [CLIP] * 3, 1: [CLIP, b"x"], 2: [CLIP, b"x", b"y"], 3: [CLIP, CLIP], 4: [CLIP], 5: [CLIP, CLIP], 9: [CLIP, CLIP],
    }  # fmt: skip
    assert found["label"][3] == ["label", ""]
    assert found["label"][5] == ["label", "label 2"]


def test_what_was_logged_beside_a_clip_that_is_no_wav(tmp_path):
    fields = {"sample_rate": 22050.0, "num_channels": 2, "length_frames": 99}
    log = write(
        tmp_path,
        clip(0, encoded_audio_string=b"fLaC...", content_type=b"audio/flac", **fields),
        clip(1, encoded_audio_string=b"??", content_type=b"audio/x-own", **fields),
        clip(2, encoded_audio_string=b"??"),
        clip(3, encoded_audio_string=CLIP, content_type=b"audio/mpeg", **fields),  # the bytes know better
        clip(4, encoded_audio_string=CLIP[:30], content_type=b"audio/wav", **fields),  # cut off
        clip(5),
    )
    for data in (True, False):
        frame = read("audio", log, data=data)
        assert frame["format"].tolist() == ["flac", "x-own", "", "wav", "wav", ""]
        assert frame["sample_rate"].fillna(-1).tolist() == [22050.0, 22050.0, -1.0, 44100.0, 22050.0, -1.0]
        assert frame["channels"].fillna(-1).tolist() == [2, 2, -1, 2, 2, -1]
        assert frame["frames"].fillna(-1).tolist() == [99, 99, -1, 6, 99, -1]


def test_a_message_that_protobuf_merges(tmp_path):
    twice = field(6, b"\x10\x01" + field(4, b"first")) + field(6, field(4, CLIP))
    log = write(tmp_path, timed(0, field(5, field(1, field(1, b"t") + twice))))
    assert read("audio", log)["data"].tolist() == [CLIP]
    assert read("audio", log, data=False)["frames"].tolist() == [6]


@pytest.mark.parametrize("data", [True, False])
def test_a_broken_message(tmp_path, data):
    value = field(1, b"t") + field(6, b"\x10\x05\x22\x7fx")
    with pytest.warns(UndecodableValueWarning, match=r"tag 't': 1 value .*: the 5 bytes are no Summary.Audio message"):
        frame = read("audio", write(tmp_path, timed(1, field(5, field(1, value))), clips(2, [CLIP])), data=data)
    assert frame["step"].tolist() == [2]


def test_values_that_hold_no_clips(tmp_path):
    good = clips(99, [CLIP], tag="t")
    for bad, reason in [
        (tensor(5, np.float32(1), "t", "audio"), "expected a tensor of strings, found float32 of shape \\[\\]"),
        (clips(5, [CLIP], [2**40], "t"), "claims 1099511627775 strings that are not there"),
    ]:
        with pytest.warns(
            UndecodableValueWarning, match=f"audio: run 'run', tag 't': 1 value .* at step 5: .*{reason}"
        ):
            frame = read("audio", write(tmp_path, bad, good))
        assert frame["step"].tolist() == [99]


def test_restarts(tmp_path):
    log = write(tmp_path, clips(0, [CLIP, b"0"]), clips(1, [b"1"]), start(1), clips(1, [b"2"]))
    with pytest.warns(RestartWarning):
        assert read("audio", log)["data"].tolist() == [CLIP, b"0", b"2"]
    assert read("audio", log, restarts="mark")["superseded"].tolist() == [False, False, True, False]


def test_a_long_clip_is_not_read_for_its_header(tmp_path, monkeypatch):
    taken = []

    class Counting(io.FileIO):
        def read(self, n=-1, /):
            data = super().read(n)
            taken.append(len(data))
            return data

    # What stands between the format and the samples is passed over.
    long = wav_file(bytes(200_000))
    long = long.replace(b"data", b"LIST" + struct.pack("<I", 50_001) + bytes(50_002) + b"data", 1)
    log = tbframe.open(write(tmp_path, clips(0, [long, b"label", long, b"label"], [2, 2])))
    log.tags()
    monkeypatch.setattr("tbframe.storage.Source.open", lambda source: Counting(source.path))
    assert read("audio", log, data=False)["frames"].tolist() == [100_000, 100_000]
    assert sum(taken) < 8000


# WAV ------------------------------------------------------------------------------------------------------------------


@settings(max_examples=50, deadline=None)
@given(st.sampled_from([8, 16, 24, 32]), st.integers(1, 4), st.integers(1, 192_000), st.integers(0, 20), st.randoms())
def test_integers_of_every_width(bits, channels, rate, frames, rng):
    body = rng.randbytes(frames * channels * bits // 8)
    data = by_the_standard_library(body, bits, channels, rate)
    found = header(data)
    assert (found.rate, found.channels, found.frames) == (rate, channels, frames)
    size = bits // 8
    numbers = [int.from_bytes(body[i : i + size], "little", signed=bits > 8) for i in range(0, len(body), size)]
    want = [(number - 128) / 128 if bits == 8 else number / 2 ** (bits - 1) for number in numbers]
    samples = wav.samples(data)
    assert samples.dtype == np.float64
    assert samples.shape == (frames, channels)
    assert samples.ravel().tolist() == want


def test_full_scale():
    ends = {
        8: b"\x00\xff",
        16: b"\x00\x80\xff\x7f",
        24: b"\x00\x00\x80\xff\xff\x7f",
        32: b"\x00\x00\x00\x80\xff\xff\xff\x7f",
    }
    for bits, body in ends.items():
        assert wav.samples(wav_file(body, bits)).ravel().tolist() == [-1.0, 1 - 2.0 ** (1 - bits)]


@pytest.mark.parametrize("bits", [32, 64])
def test_floats_as_they_are(bits):
    values = np.array([0.1, -2.5, math.inf, math.nan, -0.0, 1e-40], f"<f{bits // 8}")
    found = wav.samples(wav_file(values.tobytes(), bits, channels=2, encoding=3))
    assert found.shape == (3, 2)
    assert np.array_equal(found.ravel(), values.astype(np.float64), equal_nan=True)
    assert np.signbit(found[2, 0])


def test_an_extensible_format():
    for encoding, bits, body in [(1, 24, bytes(6)), (3, 32, struct.pack("<2f", 0.5, -0.5))]:
        extra = struct.pack("<HHI", 22, bits, 3) + struct.pack("<H", encoding) + bytes(14)
        data = wav_file(body, bits, encoding=0xFFFE, extra=extra)
        assert header(data).encoding == encoding
        assert len(wav.samples(data)) == 2


def test_samples_end_where_the_bytes_do():
    whole = wav_file(bytes(range(20)))
    claimed = whole.replace(struct.pack("<I", 20) + bytes(range(20)), b"\xff\xff\xff\xff" + bytes(range(20)))
    assert header(claimed).frames == 10
    assert np.array_equal(wav.samples(claimed), wav.samples(whole))
    assert wav.samples(whole[:-3]).shape == (8, 1)  # half a frame at the end
    odd = whole.replace(b"data", b"junk\x03\0\0\0abc\0data", 1)  # chunks begin at even places
    assert np.array_equal(wav.samples(odd), wav.samples(whole))


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "the 0 bytes are no WAV file"),
        (b"RIFF\0\0\0\0WAVE", "the WAV file holds no samples"),
        (b"RIFF\0\0\0\0WAVEdata\0\0\0\0", "does not tell its format before its samples"),
        (b"RIFF\0\0\0\0WAVE" + b"junk\0\0\0\0" * 2000 + CLIP[12:], "the WAV file holds no samples"),
        (
            wav_file(bytes(8), 8, encoding=7),
            "holds µ-law of 8 bits in frames of 1 bytes for 1 channels: expected integers",
        ),
        (wav_file(bytes(8), 12), "holds integers of 12 bits"),
        (wav_file(bytes(8), 16, encoding=3), "holds floats of 16 bits"),
        (wav_file(bytes(8), 16, channels=0), "in frames of 0 bytes for 0 channels"),
        (wav_file(bytes(8), 16, encoding=999), "holds encoding 999 of 16 bits"),
    ],
)
def test_what_cannot_be_decoded(data, reason):
    with pytest.raises(ValueError, match=reason):
        wav.samples(data)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=60), st.booleans())
def test_headers_of_anything(rest, magic):
    data = b"RIFF\0\0\0\0WAVE" + rest if magic else rest
    try:
        found = header(data)
    except ValueError:
        return
    assert 0 <= found.at + found.size <= len(data)


@pytest.mark.parametrize(
    ("data", "form"),
    [
        (CLIP, "wav"), (b"ID3\x04", "mp3"), (b"\xff\xfb\x90\0", "mp3"), (b"\xff\xf3\x18\xc4", "mp3"), (b"\xff\xf1\x50", "aac"),
        (b"OggS\0", "ogg"), (b"fLaC", "flac"), (b"FORM\0\0\0\0AIFF", "aiff"), (b".snd", "au"), (b"\0\0\0\x20ftypM4A ", "mp4"),
        (b"\x1a\x45\xdf\xa3", "webm"), (b"RIFF\0\0\0\0WEBP", ""), (b"\xff", ""), (b"\xff\x00", ""), (b"", ""), (b"text", ""),
    ],
)  # fmt: skip
def test_formats(data, form):
    assert wav.sniff(reader_of(data)) == form


# The verb -------------------------------------------------------------------------------------------------------------


def test_decode_real_clips(log):
    frame = read("audio", log_path(log)).sample(frac=1, random_state=0)
    found = decode(frame)
    assert found.name == "samples"
    assert found.index.equals(frame.index)
    amplitude = 0.5 if log in ("torch", "tensorboardx") else 1.0
    for samples in found:
        tone = amplitude * np.sin(2 * np.pi * 440 * np.arange(len(samples)) / 8000)
        assert np.allclose(samples[:, 0], tone, atol=2 / 2**15 + 1e-3 * (log == "tf1"))


def test_decode_says_what_it_cannot():
    frame = pd.DataFrame({"run": "a", "tag": "b", "step": [4, 5, 6], "data": [b"fLaC...", CLIP, b"?"]}, index=[2, 2, 0])
    with pytest.warns(UndecodableValueWarning) as caught:
        found = decode(frame)
    assert [str(warning.message) for warning in caught] == [
        "audio: run 'a', tag 'b': 2 values could not be decoded, first at step 4: flac needs a decoder of its own; the "
        "column 'data' has it"
    ]
    assert found.index.tolist() == [2, 2, 0]
    assert found.iloc[0] is found.iloc[2] is None
    assert found.iloc[1].shape == (6, 2)


def test_frames_without_bytes():
    with pytest.raises(AccessorError, match=r"read them with tbframe.audio\(logdir, data=True\)"):
        decode(read("audio", log_path("tf2"), data=False))
    with pytest.raises(AccessorError, match=r"decode\(\) needs the columns 'run', 'tag', 'step', 'data'"):
        decode(pd.DataFrame({"x": [1]}))
