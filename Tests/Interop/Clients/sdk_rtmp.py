#!/usr/bin/env python3
"""sdk_rtmp.py test|SECONDS URL: what the iOS and Android broadcast SDKs do on the wire, by PyAV's own ffmpeg.

test: eight seconds at rates that rise every two seconds, and gone without a goodbye; prints "late" where this machine was too busy for
that. SECONDS: four of pictures, then, as in the background, the last group of them again and again under sound that goes on, and a
goodbye. Everything is encoded before the first byte is sent.
"""
import io
import os
import random
import sys
import time

import av
import pyav

WIDTH, HEIGHT, RATE, GROUP, SAMPLES, SAMPLE_RATE = 320, 180, 30, 60, 1024, 48000
LATE_SECONDS = .5


def encoded(seconds, noise):
    """A file in memory. noise: of a picture, by its number, the sixteenths that cannot be compressed."""
    file = io.BytesIO()
    with av.open(file, 'w', format='nut') as container:
        video, audio = container.add_stream('libx264', rate=RATE), container.add_stream('aac', rate=SAMPLE_RATE)
        video.width, video.height, video.pix_fmt, video.gop_size = WIDTH, HEIGHT, 'yuv420p', GROUP
        video.options = {'preset': 'ultrafast', 'profile': 'baseline', 'bf': '0', 'qp': '40', 'sc_threshold': '0'}
        packets = [packet for picture in pictures(seconds * RATE, noise) for packet in video.encode(picture)] + video.encode(None)
        packets += [packet for sound in sounds(seconds * SAMPLE_RATE // SAMPLES) for packet in audio.encode(sound)] + audio.encode(None)
        for packet in sorted(packets, key=lambda packet: packet.dts * packet.time_base):
            container.mux(packet)
    file.seek(0)
    return av.open(file)


def pictures(count, noise):
    dice = random.Random(1)
    for number in range(count):
        picture = av.VideoFrame(WIDTH, HEIGHT, 'yuv420p')
        for plane in picture.planes:
            row = bytes((column * 4 + number * 8) % 224 + 16 for column in range(plane.line_size))
            wild = plane.height * noise(number) // 16
            plane.update(dice.randbytes(plane.line_size * wild) + row * (plane.height - wild))
        picture.pts = number
        yield picture


def sounds(count):
    for number in range(count):
        sound = av.AudioFrame('fltp', 'stereo', SAMPLES)
        for plane in sound.planes:
            plane.update(bytes(plane.buffer_size))
        sound.sample_rate, sound.pts = SAMPLE_RATE, number * SAMPLES
        yield sound


def in_background(source, seconds, after):
    """Sound as it is; of the pictures those before `after`, then their last group for ever."""
    packets = [packet for packet in source.demux() if packet.dts is not None]
    video = [packet for packet in packets if packet.stream.type == 'video'][:after * RATE]
    last = [bytes(packet) for packet in video[-GROUP:]]
    for number in range(after * RATE, seconds * RATE):
        packet = av.Packet(last[number % GROUP])
        packet.stream, packet.time_base = video[0].stream, video[0].time_base
        packet.pts = packet.dts = int(number / RATE / video[0].time_base)
        packet.is_keyframe = number % GROUP == 0
        video.append(packet)
    everything = video + [packet for packet in packets if packet.stream.type == 'audio']
    return sorted(everything, key=lambda packet: packet.dts * packet.time_base)


def send(source, packets, url):
    """The container, still open, and by how much the latest packet was late."""
    output = av.open(url, 'w', format='flv')
    streams = [output.add_stream_from_template(stream) for stream in source.streams]
    began, late = time.monotonic(), 0
    for packet in packets:
        due = began + float(packet.dts * packet.time_base)
        time.sleep(max(0, due - time.monotonic()))
        late = max(late, time.monotonic() - due)
        packet.stream = streams[packet.stream_index]
        output.mux(packet)
    return output, late


def main():
    what, url = sys.argv[1:]
    if what == 'test':
        source = encoded(8, lambda number: (number // (2 * RATE) + 1) ** 2)
        _, late = send(source, [packet for packet in source.demux() if packet.dts is not None], url)
        print('late' if late > LATE_SECONDS else 'tested', flush=True)
        os._exit(0)
    source = encoded(int(what), lambda number: 2)
    output, _ = send(source, in_background(source, seconds=int(what), after=4), url)
    output.close()
    print('stopped')


pyav.run(main, seconds=600)
