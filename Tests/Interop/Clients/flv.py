"""FLV files (annex E of Adobe's specification, version 10.1) and the H.264 in them, for whatever changes clips."""
import struct

HEADER = b'FLV\1\5\0\0\0\x09\0\0\0\0'


def tags(path):
    """(type, milliseconds, body) of each."""
    data = open(path, 'rb').read()
    place, found = len(HEADER), []
    while place < len(data):
        size = int.from_bytes(data[place + 1:place + 4], 'big')
        time = int.from_bytes(data[place + 4:place + 7], 'big') | data[place + 7] << 24
        found.append((data[place], time, data[place + 11:place + 11 + size]))
        place += 11 + size + 4
    return found


def tag(kind, time, body):
    moment = (time & 0xffffff).to_bytes(3, 'big') + bytes([time >> 24 & 0x7f])
    return bytes([kind]) + len(body).to_bytes(3, 'big') + moment + bytes(3) + body + struct.pack('>I', 11 + len(body))


def is_picture(kind, body):
    """Of H.264, and no parameter sets."""
    return kind == 9 and body[0] & 0x0f == 7 and body[1] == 1


def is_parameters(kind, body):
    """What decoders need first, of pictures or sound."""
    return kind == 9 and body[0] & 0x0f == 7 and body[1] == 0 or kind == 8 and body[0] >> 4 == 10 and body[1] == 0


def units(access_unit):
    """NAL units, which have lengths of four bytes."""
    while access_unit:
        length, = struct.unpack('>I', access_unit[:4])
        yield access_unit[4:4 + length]
        access_unit = access_unit[4 + length:]


def access_unit(units):
    return b''.join(struct.pack('>I', len(unit)) + unit for unit in units)


def escaped(rbsp):
    """Emulation prevention (H.264 7.4.1.1)."""
    unit = bytearray()
    for byte in rbsp:
        if unit[-2:] == b'\0\0' and byte <= 3:
            unit.append(3)
        unit.append(byte)
    return bytes(unit)
