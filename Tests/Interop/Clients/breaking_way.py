#!/usr/bin/env python3
"""A TCP way to PORT of 127.0.0.1 that breaks: SIGUSR1 resets what is connected, at both ends. Prints the port it listens on.

usage: breaking_way.py PORT [ADDRESS to listen at, 127.0.0.1]
"""
import contextlib
import signal
import socket
import struct
import sys
import threading

connected, broken = set(), set()


def pump(source, target):
    """Until one side ends, however it does: then the other one is told."""
    with contextlib.suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with contextlib.suppress(OSError):
        if target not in broken:
            target.shutdown(socket.SHUT_WR)


def serve(client):
    upstream = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
    connected.update([client, upstream])
    back = threading.Thread(target=pump, args=(upstream, client), daemon=True)
    back.start()
    pump(client, upstream)
    back.join()
    for side in client, upstream:
        side.close()
        connected.discard(side)
        broken.discard(side)


def reset(*_):
    """No linger: what closes is reset (RFC 9293 3.6). A connection that a thread reads is closed once that has been woken."""
    broken.update(connected)
    for side in list(connected):
        with contextlib.suppress(OSError):
            side.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            side.shutdown(socket.SHUT_RD)


signal.signal(signal.SIGUSR1, reset)
listener = socket.create_server(((sys.argv[2:] or ["127.0.0.1"])[0], 0))
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
