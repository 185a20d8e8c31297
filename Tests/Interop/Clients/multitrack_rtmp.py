#!/usr/bin/env python3
"""multitrack_rtmp.py SECONDS URL AUDIO_TRACKS WIDTHxHEIGHT@KILOBITS[:CODEC]...: publishes several video tracks by Enhanced RTMP, muxed
by PyAV's own ffmpeg 8.

Track 0 goes out as plain H.264, as OBS sends it too. Everything is encoded before the first byte is sent, so that a busy machine makes
no gaps. Prints what ffmpeg logs; ends with 1 when the server ended the stream.
"""
import io
import re
import sys
import time

import av
import pyav

RATE, SAMPLES, SAMPLE_RATE = 30, 1024, 48000
OPTIONS = {'libx264': {'preset': 'ultrafast', 'tune': 'zerolatency', 'profile': 'baseline', 'bf': '0'},
           'libx265': {'preset': 'ultrafast', 'x265-params': 'log-level=none:bframes=0'}}


def video(output, words):
    """Adds a track; its pictures follow from its options."""
    width, height, kilobits, codec = re.fullmatch(r'(\d+)x(\d+)@(\d+)(?::(\w+))?', words).groups()
    stream = output.add_stream(codec or 'libx264', rate=RATE)
    stream.width, stream.height, stream.pix_fmt = int(width), int(height), 'yuv420p'
    stream.bit_rate, stream.gop_size, stream.options = int(kilobits) * 1000, RATE * 2, OPTIONS[codec or 'libx264']
    return stream


def pictures(stream, count):
    """Stripes that wander: cheap, and no two alike."""
    picture = av.VideoFrame(stream.width, stream.height, 'yuv420p')
    for number in range(count):
        for plane in picture.planes:
            row = bytes((column * 4 + number * 8) % 224 + 16 for column in range(plane.line_size))
            plane.update(row * plane.height)
        picture.pts = number
        yield from stream.encode(picture)
    yield from stream.encode(None)


def sounds(stream, count):
    """Silence."""
    for number in range(count):
        sound = av.AudioFrame('fltp', 'stereo', SAMPLES)
        for plane in sound.planes:
            plane.update(bytes(plane.buffer_size))
        sound.sample_rate, sound.pts = SAMPLE_RATE, number * SAMPLES
        yield from stream.encode(sound)
    yield from stream.encode(None)


def encoded(seconds, audio_tracks, wishes):
    """A file of all tracks, in memory."""
    file = io.BytesIO()
    with av.open(file, 'w', format='nut') as container:
        streams = [video(container, words) for words in wishes]
        silences = [container.add_stream('aac', rate=SAMPLE_RATE) for _ in range(audio_tracks)]
        packets = [packet for stream in streams for packet in pictures(stream, seconds * RATE)]
        packets += [packet for stream in silences for packet in sounds(stream, seconds * SAMPLE_RATE // SAMPLES)]
        for packet in sorted(packets, key=lambda packet: packet.dts * packet.time_base):
            container.mux(packet)
    file.seek(0)
    return file


def main():
    seconds, url, audio_tracks = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    source = av.open(encoded(seconds, audio_tracks, sys.argv[4:]))
    output = av.open(url, 'w', format='flv')
    streams = [output.add_stream_from_template(stream) for stream in source.streams]
    began = time.monotonic()
    for packet in source.demux():
        if packet.dts is None:
            continue
        time.sleep(max(0, began + float(packet.dts * packet.time_base) - time.monotonic()))
        packet.stream = streams[packet.stream_index]
        output.mux(packet)
    output.close()


pyav.run(main, seconds=240)
