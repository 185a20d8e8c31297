#!/usr/bin/env python3
"""enhanced_rtmp.py ENCODER URL: publishes ten seconds of video in a codec of Enhanced RTMP, with AAC, by PyAV's own ffmpeg.

ENCODER is libx265 or libsvtav1. Prints what ffmpeg logs; ends with 1 when the server ended the stream.
"""
import sys
import time

import av
import pyav

FRAMES, RATE, SAMPLES, SAMPLE_RATE = 300, 30, 1024, 48000


def frames(video, audio):
    """Pictures and silence in the order of their times."""
    picture, silence = av.VideoFrame(320, 180, 'yuv420p'), av.AudioFrame('fltp', 'stereo', SAMPLES)
    for plane in list(picture.planes) + list(silence.planes):
        plane.update(bytes(plane.buffer_size))
    silence.sample_rate = SAMPLE_RATE
    sounds = 0
    for number in range(FRAMES):
        while sounds * SAMPLES * RATE <= number * SAMPLE_RATE:
            silence.pts = sounds * SAMPLES
            sounds += 1
            yield sounds * SAMPLES / SAMPLE_RATE, audio, silence
        picture.pts = number
        yield number / RATE, video, picture


def main():
    encoder, url = sys.argv[1:]
    output = av.open(url, 'w', format='flv')
    video, audio = output.add_stream(encoder, rate=RATE), output.add_stream('aac', rate=SAMPLE_RATE)
    video.width, video.height, video.pix_fmt = 320, 180, 'yuv420p'
    video.options = {'libx265': {'preset': 'ultrafast', 'x265-params': 'log-level=none:bframes=0'}}.get(encoder, {'preset': '12'})
    began = time.monotonic()
    for due, stream, frame in frames(video, audio):
        time.sleep(max(0, began + due - time.monotonic()))
        for packet in stream.encode(frame):
            output.mux(packet)
    output.close()


pyav.run(main, seconds=150)
