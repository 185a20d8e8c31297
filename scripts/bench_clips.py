"""An FLV file whose audio is Opus, by Enhanced RTMP: what an encoder sends whose audio is passed on. ffmpeg 5 writes no such file."""
import pathlib
import struct

AUDIO, EXTENDED_AUDIO = 8, 9 << 4
SEQUENCE_START, CODED_FRAMES = 0, 1
# Stereo, 312 samples of look-ahead, 48 kHz (RFC 7845 §5.1).
OPUS_HEAD = b"OpusHead" + struct.pack("<BBHIhB", 1, 2, 312, 48_000, 0, 0)
# 20 ms of stereo CELT, full band (RFC 6716 §3.1), at 64 kbit/s; nobody listens.
OPUS_PACKET = bytes([31 << 3 | 4]) + bytes(number * 37 & 0xFF for number in range(1, 160))
PACKET_MILLISECONDS = 20


def with_opus(silent: pathlib.Path) -> pathlib.Path:
    """The file beside `silent` that has its video, and Opus."""
    path = silent.with_name(f"{silent.stem}-opus.flv")
    if path.exists():
        return path
    source = silent.read_bytes()
    header = source[:4] + bytes([source[4] | 4]) + source[5:13]
    video = list(tags(source))
    end = max(time for time, _, _ in video)
    audio = [(0, AUDIO, message(SEQUENCE_START, OPUS_HEAD))]
    audio += [(time, AUDIO, message(CODED_FRAMES, OPUS_PACKET)) for time in range(0, end, PACKET_MILLISECONDS)]
    # Stable: parameter sets stay before the first picture.
    part = path.with_suffix(".part")
    part.write_bytes(header + b"".join(tag(*each) for each in sorted(video + audio, key=lambda each: each[0])))
    part.rename(path)
    return path


def message(kind: int, body: bytes) -> bytes:
    return bytes([EXTENDED_AUDIO | kind]) + b"Opus" + body


def tags(source: bytes):
    """Time in milliseconds, kind and body of each (FLV 10.1 §E.4)."""
    offset = 13
    while offset + 11 <= len(source):
        size, time = int.from_bytes(source[offset + 1:offset + 4]), int.from_bytes(source[offset + 4:offset + 7])
        yield time | source[offset + 7] << 24, source[offset], source[offset + 11:offset + 11 + size]
        offset += 11 + size + 4


def tag(time: int, kind: int, body: bytes) -> bytes:
    head = bytes([kind]) + len(body).to_bytes(3) + (time & 0xFFFFFF).to_bytes(3) + bytes([time >> 24]) + bytes(3)
    return head + body + (len(head) + len(body)).to_bytes(4)
