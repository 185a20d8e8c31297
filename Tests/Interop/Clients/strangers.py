"""Connects many times from many addresses of 127.0.0.0/8 and says what nobody should: garbage, other protocols, halves of the right
ones, garbage inside TLS, nothing. Who is cut off is replaced by another, 200 a second at most. Ends when it is killed.

usage: strangers.py HOST PORT COUNT
Prints `standing N cut N` once a second, from when COUNT connections have been made.
"""
import itertools
import os
import selectors
import socket
import ssl
import sys
import time

host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
numbers = itertools.count()
selector = selectors.DefaultSelector()
trusting = ssl._create_unverified_context()
standing = cut = 0

CHECK = bytes.fromhex("006c000100582112a442") + bytes(100)
SAYINGS = [
    lambda: os.urandom(64),
    lambda: b"GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    lambda: b"\x03" + bytes(1536),
    lambda: b"\x16\x03\x01\x00\x40\x01" + os.urandom(63),
    lambda: b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
    lambda: b"",
    lambda: CHECK[:6] + b"\x21\x12\xa4\x43" + bytes(100),
    lambda: CHECK,
    lambda: b"\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c" + bytes(12) + CHECK,
]


class Stranger:
    def __init__(self, number):
        self.socket = socket.socket()
        self.socket.bind((f'127.{2 + number // 62_500 % 200}.{number // 250 % 250}.{1 + number % 250}', 0))
        self.socket.setblocking(False)
        self.socket.connect_ex((host, port))
        kind = number % (len(SAYINGS) + 1)
        self.saying = SAYINGS[kind]() if kind < len(SAYINGS) else None
        self.arrived, self.leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = trusting.wrap_bio(self.arrived, self.leaving) if self.saying is None else None
        selector.register(self.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, self)

    def connected(self):
        selector.modify(self.socket, selectors.EVENT_READ, self)
        if self.tls:
            self.shake()
        else:
            self.socket.send(self.saying)

    def shake(self):
        """Goes on with the handshake; inside TLS comes garbage."""
        try:
            self.tls.do_handshake()
            self.tls.write(b"\0" + os.urandom(32))
        except ssl.SSLWantReadError:
            pass
        self.socket.send(self.leaving.read())

    def heard(self):
        """False when the other end has closed."""
        heard = self.socket.recv(65_536)
        if self.tls and heard:
            self.arrived.write(heard)
            self.shake()
        return heard != b""


def connect():
    global standing
    Stranger(next(numbers))
    standing += 1


for _ in range(count):
    connect()
told = replaced = time.monotonic()
while True:
    for key, ready in selector.select(timeout=0.05):
        stranger = key.data
        try:
            if ready & selectors.EVENT_WRITE:
                stranger.connected()
            ended = ready & selectors.EVENT_READ and not stranger.heard()
        except BlockingIOError:
            ended = False
        except (OSError, ssl.SSLError):
            ended = True
        if ended:
            selector.unregister(stranger.socket)
            stranger.socket.close()
            standing -= 1
            cut += 1
    now = time.monotonic()
    while standing < count and replaced < now:
        connect()
        replaced += 0.005
    replaced = max(replaced, now - 0.05)
    if now - told >= 1:
        told = now
        print('standing', standing, 'cut', cut, flush=True)
