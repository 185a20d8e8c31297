#!/usr/bin/env python3
"""timecode_clip.py FROM.flv TO.flv: gives each keyframe its timecode, from noon and a half second on (H.264 D.1.3).

FROM was encoded with pic_timing messages that say how pictures are shown and no more, as x264's `pic-struct=1` writes them; of keyframes
they are replaced. Its pictures follow each other 30 times a second.
"""
import sys

import flv

BEGIN = 12 * 3600 * 30 + 15


def pic_timing(number):
    """The message of a picture, where there is no HRD."""
    seconds, frames = divmod(number, 30)
    minutes, seconds = divmod(seconds, 60)
    hours, minutes = divmod(minutes, 60)
    # A frame, with a clock timestamp; progressive, in a time scale of fields, counted without drops, told in full.
    bits = "0000" + "1" + "00" + "1" + "00000" + "1" + "00"
    bits += f"{frames:08b}{seconds:06b}{minutes:06b}{hours % 24:05b}" + 24 * "0"
    # Alignment (D.1.1).
    bits += "1"
    bits += -len(bits) % 8 * "0"
    payload = int(bits, 2).to_bytes(len(bits) // 8, "big")
    return b"\6" + flv.escaped(bytes([1, len(payload)]) + payload + b"\x80")


def is_pic_timing(unit):
    return unit[:2] == b"\6\1"


def main():
    source, target = sys.argv[1:]
    changed = bytearray(flv.HEADER)
    for kind, time, body in flv.tags(source):
        if flv.is_picture(kind, body):
            units = list(flv.units(body[5:]))
            if any(unit[0] & 0x1f == 5 for unit in units):
                place = next(index for index, unit in enumerate(units) if is_pic_timing(unit))
                units[place] = pic_timing(BEGIN + round(time * 30 / 1000))
            body = body[:5] + flv.access_unit(units)
        changed += flv.tag(kind, time, body)
    open(target, "wb").write(changed)


main()
