"""Connects many times from many addresses of 127.0.0.0/8 and says what nobody should: garbage, other protocols, halves of the right
ones, garbage inside TLS, nothing. Who is cut off is replaced by another, 200 a second at most. Ends when it is killed.

usage: strangers.py HOST PORT COUNT
Prints `standing N cut N` once a second, from when COUNT connections have been made.
"""
import os
import ssl
import sys

import crowd

address = sys.argv[1], int(sys.argv[2])
trusting = ssl._create_unverified_context()

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


class Stranger(crowd.Peer):
    def __init__(self, number):
        super().__init__(number, address)
        kind = number % (len(SAYINGS) + 1)
        self.saying = SAYINGS[kind]() if kind < len(SAYINGS) else None
        self.arrived, self.leaving = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = trusting.wrap_bio(self.arrived, self.leaving) if self.saying is None else None

    def connected(self):
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


crowd.keep(int(sys.argv[3]), Stranger)
