"""Connects many times from many addresses of 127.0.0.0/8 and says nothing; who is cut off is replaced by another, 200 a second at
most. Ends when it is killed.

usage: silent_peers.py HOST PORT COUNT
Prints `standing N cut N` once a second, from when COUNT connections have been made.
"""
import itertools
import selectors
import socket
import sys
import time

host, port, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
numbers = itertools.count()
selector = selectors.DefaultSelector()
standing = cut = 0


def connect():
    global standing
    number = next(numbers)
    peer = socket.socket()
    peer.bind((f'127.{2 + number // 62_500 % 200}.{number // 250 % 250}.{1 + number % 250}', 0))
    peer.setblocking(False)
    peer.connect_ex((host, port))
    selector.register(peer, selectors.EVENT_READ)
    standing += 1


for _ in range(count):
    connect()
told = replaced = time.monotonic()
while True:
    for key, _ in selector.select(timeout=0.05):
        try:
            ended = key.fileobj.recv(4_096) == b''
        except OSError:
            ended = True
        if ended:
            selector.unregister(key.fileobj)
            key.fileobj.close()
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
