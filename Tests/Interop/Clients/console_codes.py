#!/usr/bin/env python3
"""console_codes.py ADMIN-URL FOLDER: has the console's page make QR codes of every size, and ZBar read them."""
import pathlib
import string
import subprocess
import sys
import tempfile

import webdriver
from console import expect

# Bytes that each version holds at level L (ISO/IEC 18004, table 7).
CAPACITIES = [
    17, 32, 53, 78, 106, 134, 154, 192, 230, 271, 321, 367, 425, 458, 520, 586, 644, 718, 792, 858, 929, 1003, 1091, 1171, 1273, 1367,
    1465, 1528, 1628, 1732, 1840, 1952, 2068, 2188, 2303, 2431, 2563, 2699, 2809, 2953,
]
LETTERS = string.ascii_letters + string.digits + '-_.#/:'
ENCODE = """
const [text, done] = arguments;
import('/console/qr.js').then(module => module.encode(text)).then(rows => done(rows.map(row => row.join(''))), error => done(error.message));
"""


def text(length):
    """Like a token: no run, no pattern, the same at every run."""
    value, letters = length, []
    for _ in range(length):
        value = (value * 1103515245 + 12345) % 2**31
        letters.append(LETTERS[(value >> 16) % len(LETTERS)])
    return ''.join(letters)


def write(rows, path, scale=4, quiet=4):
    """A picture as a screen shows it, with the margin that the standard asks for."""
    side = (len(rows) + 2 * quiet) * scale
    blank = b'\xff' * side * quiet * scale
    lines = [b''.join((b'\0' if module == '1' else b'\xff') * scale for module in '0' * quiet + row + '0' * quiet) * scale for row in rows]
    path.write_bytes(b'P5 %d %d 255\n' % (side, side) + blank + b''.join(lines) + blank)


def read(codes):
    """What ZBar reads in each of the codes, in their order."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [pathlib.Path(folder) / ('%03d.pgm' % number) for number in range(len(codes))]
        for code, path in zip(codes, paths):
            write(code, path)
        line = ['zbarimg', '-q', '--raw', '-Sdisable', '-Sqrcode.enable', *map(str, paths)]
        return subprocess.run(line, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.decode().splitlines()


def main():
    with webdriver.chromium() as browser:
        browser.open(sys.argv[1] + '/')

        def encode(wanted):
            return browser.call('POST', '/execute/async', {'script': ENCODE, 'args': [wanted]})

        fewest = [1, *(capacity + 1 for capacity in CAPACITIES)]
        texts = [text(length) for lengths in zip(fewest, CAPACITIES) for length in lengths] + ['B\u00fchne \u2713']
        codes = [encode(wanted) for wanted in texts]
        sides = [len(code) for code in codes[:-1]]
        expect(sides == [17 + 4 * version for version in range(1, 41) for _ in range(2)], 'each text takes the smallest version that holds it')
        expect(read(codes) == texts, '40 versions, as full and as empty as they get, and UTF-8')
        expect('at most 2953 bytes' in encode('a' * 2954), 'what is too long is refused')


main()
