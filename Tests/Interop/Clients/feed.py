#!/usr/bin/env python3
"""feed.py CLIP.flv NEXT.flv FIFO [--marked]: CLIP again and again to whoever reads FIFO; after SIGUSR1 NEXT, once.

`--marked` gives slices nal_ref_idc 1, which is as good as any other but 0 (H.264 7.4.1): of two encoders' pictures each tells whose
it is.
"""
import contextlib
import fcntl
import signal
import sys
import threading

import flv

PIPE_SIZE = 1031  # F_SETPIPE_SZ


def marked(unit):
    return bytes([unit[0] & 0x1f | 1 << 5]) + unit[1:] if unit[0] & 0x1f in (1, 5) else unit


def write(clip, target, begin, is_over):
    """A clip that begins at a time; returns when what follows it begins, in ms."""
    last = begin
    for kind, time, body in clip:
        if is_over():
            break
        if kind != 18:
            last = begin + time
            target.write(flv.tag(kind, last, body))
            target.flush()
    return last + 33


def main():
    turned = threading.Event()
    signal.signal(signal.SIGUSR1, lambda *_: turned.set())
    first, after = map(flv.tags, sys.argv[1:3])
    if sys.argv[4:] == ["--marked"]:
        first = [
            (kind, time, body[:5] + flv.access_unit(map(marked, flv.units(body[5:])))) if flv.is_picture(kind, body)
            else (kind, time, body) for kind, time, body in first]
    rest = [each for each in first if not flv.is_parameters(each[0], each[2])]
    with contextlib.suppress(BrokenPipeError), open(sys.argv[3], "wb") as target:
        # Little is on its way when it turns.
        fcntl.fcntl(target, PIPE_SIZE, 4096)
        target.write(flv.HEADER)
        time = write(first, target, 0, turned.is_set)
        while not turned.is_set():
            time = write(rest, target, time, turned.is_set)
        write(after, target, time, lambda: False)


main()
