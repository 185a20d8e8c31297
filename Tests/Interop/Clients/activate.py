"""Starts a program as systemd does with socket units: binds the sockets, then becomes the program.

usage: activate.py NAME=ADDRESS:PORT[:udp]... -- PROGRAM ARGUMENT...
Each socket is printed as NAME PORT. One name may come more than once: then the sockets share a port by SO_REUSEPORT.
"""
import os
import socket
import sys


def bound(address, port, kind):
    """A socket there; of free UDP ports one whose TCP port is free too, because the program listens on both."""
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM if kind == ["udp"] else socket.SOCK_STREAM)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    made.bind((address, port))
    if port == 0 and kind == ["udp"]:
        with socket.socket() as probe:
            if not can_bind(probe, made.getsockname()):
                return bound(address, port, kind)
    return made


def can_bind(probe, address):
    try:
        probe.bind(address)
        return True
    except OSError:
        return False


split = sys.argv.index("--")
wanted, program = sys.argv[1:split], sys.argv[split + 1:]
sockets, ports = [], {}
for entry in wanted:
    name, _, place = entry.partition("=")
    address, port, *kind = place.split(":")
    made = bound(address, ports.get(name, int(port)), kind)
    ports[name] = made.getsockname()[1]
    if kind != ["udp"]:
        made.listen(128)
    sockets.append((name, made))
    print(name, ports[name], flush=True)
# Out of the way first: the numbers from 3 on may be those of the sockets themselves.
held = [os.dup2(made.fileno(), 200 + index) for index, (_, made) in enumerate(sockets)]
for index, descriptor in enumerate(held):
    os.dup2(descriptor, 3 + index, inheritable=True)
    os.close(descriptor)
os.environ.update(
    LISTEN_PID=str(os.getpid()), LISTEN_FDS=str(len(sockets)), LISTEN_FDNAMES=":".join(name for name, _ in sockets))
os.execv(program[0], program)
