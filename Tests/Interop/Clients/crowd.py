"""A crowd of peers at one port, each from an address of its own of 127.0.0.0/8."""
import itertools
import selectors
import socket
import time

# Seconds between two that replace others.
INTERVAL = 0.005


class Peer:
    """One connection, which says nothing."""

    def __init__(self, number, address):
        self.socket = socket.socket()
        self.socket.bind((f'127.{2 + number // 62_500 % 200}.{number // 250 % 250}.{1 + number % 250}', 0))
        self.socket.setblocking(False)
        self.socket.connect_ex(address)

    def connected(self):
        """The connection stands."""

    def heard(self):
        """Something has come; false when the other end has closed."""
        return self.socket.recv(65_536) != b''


def keep(count, make):
    """Makes so many peers, each by `make` of its number, and replaces who is cut off, 200 a second at most. Prints
    `standing N cut N` once a second, from when all have been made. Does not return.
    """
    numbers = itertools.count()
    selector = selectors.DefaultSelector()
    standing = cut = 0

    def connect():
        nonlocal standing
        peer = make(next(numbers))
        selector.register(peer.socket, selectors.EVENT_READ | selectors.EVENT_WRITE, peer)
        standing += 1

    for _ in range(count):
        connect()
    told = replaced = time.monotonic()
    while True:
        for key, ready in selector.select(timeout=0.05):
            peer = key.data
            try:
                if ready & selectors.EVENT_WRITE:
                    selector.modify(peer.socket, selectors.EVENT_READ, peer)
                    peer.connected()
                ended = ready & selectors.EVENT_READ and not peer.heard()
            except BlockingIOError:
                ended = False
            except OSError:
                ended = True
            if ended:
                selector.unregister(peer.socket)
                peer.socket.close()
                standing -= 1
                cut += 1
        now = time.monotonic()
        while standing < count and replaced < now:
            connect()
            replaced += INTERVAL
        replaced = max(replaced, now - 0.05)
        if now - told >= 1:
            told = now
            print('standing', standing, 'cut', cut, flush=True)
