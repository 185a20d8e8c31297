"""A TCP balancer that says for whom it speaks: every connection goes to PORT of 127.0.0.1 behind a PROXY header (version 2).

usage: proxy.py PORT [CLIENT_ADDRESS]; prints the port it listens on. Without an address it speaks for nobody: no header.
"""
import contextlib
import socket
import struct
import sys
import threading


def pump(source, target):
    """Until one side ends, however it does: then the other one is told."""
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        for side in source, target:
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)


def serve(client):
    upstream = socket.create_connection(("127.0.0.1", port))
    if address:
        upstream.sendall(header())
    threading.Thread(target=pump, args=(upstream, client), daemon=True).start()
    pump(client, upstream)


def header():
    addresses = socket.inet_aton(address) + socket.inet_aton("127.0.0.1") + struct.pack("!HH", 40000, port)
    return b"\r\n\r\n\0\r\nQUIT\n\x21\x11" + struct.pack("!H", len(addresses)) + addresses


port, address = int(sys.argv[1]), "".join(sys.argv[2:])
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
