#!/usr/bin/env python3
"""bpm_clip.py FROM.flv TO.flv [--malformed | --composed | REPORT...]: puts Broadcast Performance Metrics into a clip, as OBS does.

OBS appends three SEI messages to every keyframe of a multitrack stream: a time, the session's frames, the rendition's (shared/bpm
in its sources). REPORT is rendered,lagged,output,dropped,input,skipped,encoded for one keyframe each; the last one goes on.
`--composed` appends the time alone, which goes on with the clip from a moment in 2026.
`--malformed` appends messages cut short, of wrong sizes, without an end, and garbage, to every picture.
"""
import datetime
import random
import struct
import sys

import flv

TIME, SESSION, RENDITION = (bytes.fromhex(text) for text in (
    '0aecffe752724e2fa62fd19cd61a93b5', 'ca60e71c6a8b4388a377151df7bf8ac2', 'f1fbc1d5101e4fb5a61eb8ce3c07b8c0'))


def sei(payload):
    size = b'\xff' * (len(payload) // 255) + bytes([len(payload) % 255])
    return b'\x06' + flv.escaped(b'\x05' + size + payload + b'\x80')


def stamp(event):
    return bytes([1, event]) + b'2026-11-22T12:26:03.591Z\0'


def counters(identifier, values):
    body = b''.join(struct.pack('>BI', tag, value) for tag, value in enumerate(values, 1))
    return sei(identifier + b'\0' + stamp(4) + bytes([len(values) - 1]) + body)


def messages(report):
    rendered, lagged, output, dropped, given, skipped, encoded = report
    return [sei(TIME + b'\3' + b''.join(stamp(event) for event in (1, 2, 3, 4))),
            counters(SESSION, (rendered, lagged, dropped, output)), counters(RENDITION, (given, skipped, encoded))]


def composed(milliseconds):
    """When a picture of the clip was composed."""
    moment = datetime.datetime(2026, 11, 22, 12) + datetime.timedelta(milliseconds=milliseconds)
    text = moment.isoformat(timespec="milliseconds").encode()
    return sei(TIME + bytes([0, 1, 1]) + text + b'Z\0')


def malformed(chance):
    whole = counters(SESSION, (120, 120, 120, 120))
    return chance.choice([
        whole[:chance.randrange(1, len(whole) - 8)],
        b'\x06\x05' + b'\xff' * 300,
        sei(RENDITION + b'\x0f' + b'A' * 400),
        sei(RENDITION + b'\0\x09\x01' + bytes(20)),
        sei(SESSION),
        b'\x06' + chance.randbytes(chance.randrange(1, 90)),
        counters(RENDITION, (2 ** 32 - 1, 2 ** 32 - 1, 0)),
    ])


def change(body, time, number, reports, chance):
    """A picture's body, with more units at its end; at its begin where `reports` is None and keyframes say when they were composed."""
    added = []
    if chance:
        added = [malformed(chance)]
    elif any(unit[0] & 0x1f == 5 for unit in flv.units(body[5:])):
        added = [composed(time)] if reports is None else messages(reports[min(number, len(reports) - 1)])
        number += 1
    added = flv.access_unit(added)
    return (body[:5] + added + body[5:] if reports is None and not chance else body + added), number


def main():
    source, target, *options = sys.argv[1:]
    chance = random.Random(7) if options == ['--malformed'] else None
    reports = None if options == ['--composed'] else [] if chance else [tuple(map(int, option.split(','))) for option in options]
    number, changed = 0, bytearray(flv.HEADER)
    for kind, time, body in flv.tags(source):
        if flv.is_picture(kind, body):
            body, number = change(body, time, number, reports, chance)
        changed += flv.tag(kind, time, body)
    open(target, 'wb').write(changed)


main()
