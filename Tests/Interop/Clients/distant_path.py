"""A long way to a server on 127.0.0.1: it delays, loses and cuts, as it is told while it runs.

usage: distant_path.py [--udp PORT] [--tcp PORT] [--delay MS] [--loss PERCENT] [--seed N]

Prints one JSON object: the ports it listens on, `udp` and `tcp`, each leading to the PORT of that name. Then it reads commands,
one a line, and answers each with one line of JSON, the counts so far:

    to udp|tcp PORT            where it leads from now on
    delay MS                   one way, of what comes from now on
    loss PERCENT [up|down]     of datagrams; both ways without a word. Up is toward the server
    rate KBIT [up|down]        what datagrams get through, with a queue of 200 ms before it; 0 is as wide as can be
    cut [up|down]              nothing passes: datagrams are lost, TCP waits
    heal                       what waited goes on; loss and delay stay
    reset                      ends every TCP connection by RST
    counts                     changes nothing

Drops follow from the seed alone, each way from a sequence of its own. The end of the input ends it.
"""
import argparse
import asyncio
import json
import os
import random
import socket
import struct
import sys

# What is on its way on one TCP connection, bytes: about a second of an encoder behind a router with a usual buffer.
MAXIMUM_IN_FLIGHT = 1_000_000
# What waits before a narrow place, seconds: a home router's usual buffer. What comes then is dropped.
MAXIMUM_QUEUE = .2


class Direction:
    def __init__(self, name, options):
        self.random = random.Random('%d %s' % (options.seed, name))
        self.loss, self.is_cut = options.loss, False
        self.counts = {'passed': 0, 'dropped': 0, 'cut': 0}
        self.healed = asyncio.Event()
        self.healed.set()
        # Bits a second, and when the last datagram that waits is through.
        self.rate, self.is_through = 0, 0

    def takes(self, data):
        """How long a datagram waits before it passes, seconds; None where it does not. Counts it."""
        now = asyncio.get_running_loop().time()
        wait = max(0, self.is_through - now)
        is_dropped = self.random.random() * 100 < self.loss or wait > MAXIMUM_QUEUE
        fate = 'cut' if self.is_cut else 'dropped' if is_dropped else 'passed'
        self.counts[fate] += 1
        if fate != 'passed':
            return None
        if self.rate:
            wait += len(data) * 8 / self.rate
            self.is_through = now + wait
        return wait

    def cut(self):
        self.is_cut = True
        self.healed.clear()

    def heal(self):
        self.is_cut = False
        self.healed.set()


class Path:
    def __init__(self, options):
        self.options = options
        self.up, self.down = Direction('up', options), Direction('down', options)
        self.connections = set()

    @property
    def delay(self):
        return self.options.delay / 1000

    def directions(self, words):
        return [getattr(self, word) for word in words or ('up', 'down')]

    def obey(self, command, *words):
        if command == 'to':
            setattr(self.options, words[0], int(words[1]))
        elif command == 'delay':
            self.options.delay = float(words[0])
        elif command == 'loss':
            for direction in self.directions(words[1:]):
                direction.loss = float(words[0])
        elif command == 'rate':
            for direction in self.directions(words[1:]):
                direction.rate = float(words[0]) * 1000
        elif command == 'cut':
            for direction in self.directions(words):
                direction.cut()
        elif command == 'heal':
            self.up.heal()
            self.down.heal()
        elif command == 'reset':
            for writer in self.connections:
                writer.transport.get_extra_info('socket').setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
                writer.transport.abort()
        elif command != 'counts':
            raise ValueError(command)
        return {'up': self.up.counts, 'down': self.down.counts}


class Front(asyncio.DatagramProtocol):
    """What clients send to: each gets a socket of its own toward the server."""

    def __init__(self, path):
        self.path, self.peers = path, {}

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, source):
        if (wait := self.path.up.takes(data)) is not None:
            asyncio.get_running_loop().call_later(wait + self.path.delay, self.send, data, source)

    def send(self, data, source):
        if source not in self.peers:
            peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
            peer.setblocking(False)
            peer.bind(('127.0.0.1', 0))
            self.peers[source] = peer
            asyncio.get_running_loop().add_reader(peer, self.answered, peer, source)
        self.peers[source].sendto(data, ('127.0.0.1', self.path.options.udp))

    def answered(self, peer, source):
        while True:
            try:
                data = peer.recv(65536)
            except (BlockingIOError, ConnectionRefusedError):
                return
            if (wait := self.path.down.takes(data)) is not None:
                asyncio.get_running_loop().call_later(wait + self.path.delay, self.transport.sendto, data, source)


async def carry(path, direction, reader, writer):
    """One way of a TCP connection: in order, each piece after its delay."""
    loop, waiting, room = asyncio.get_running_loop(), asyncio.Queue(), asyncio.Event()
    in_flight = 0

    async def arrive():
        nonlocal in_flight
        while (piece := await waiting.get()) is not None:
            data, due = piece
            await asyncio.sleep(due - loop.time())
            await direction.healed.wait()
            writer.write(data)
            await writer.drain()
            in_flight -= len(data)
            room.set()
        writer.write_eof()

    arriving = asyncio.create_task(arrive())
    try:
        while data := await reader.read(65536):
            in_flight += len(data)
            waiting.put_nowait((data, loop.time() + path.delay))
            while in_flight >= MAXIMUM_IN_FLIGHT:
                room.clear()
                await room.wait()
        waiting.put_nowait(None)
        await arriving
    except OSError:
        pass
    finally:
        arriving.cancel()


async def serve(path, reader, writer):
    upstream = None
    path.connections.add(writer)
    try:
        await asyncio.sleep(path.delay)
        await path.up.healed.wait()
        far, upstream = await asyncio.open_connection('127.0.0.1', path.options.tcp)
        path.connections.add(upstream)
        await asyncio.gather(carry(path, path.up, reader, upstream), carry(path, path.down, far, writer))
    except OSError:
        pass
    finally:
        for end in filter(None, (writer, upstream)):
            path.connections.discard(end)
            end.close()


async def main():
    parser = argparse.ArgumentParser()
    for name, kind, default in (('udp', int, None), ('tcp', int, None), ('delay', float, 0), ('loss', float, 0), ('seed', int, 1)):
        parser.add_argument('--' + name, type=kind, default=default)
    path = Path(parser.parse_args())
    loop = asyncio.get_running_loop()
    near = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    near.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    near.bind(('127.0.0.1', 0))
    await loop.create_datagram_endpoint(lambda: Front(path), sock=near)
    listener = await asyncio.start_server(lambda reader, writer: serve(path, reader, writer), '127.0.0.1', 0)
    print(json.dumps({'udp': near.getsockname()[1], 'tcp': listener.sockets[0].getsockname()[1]}), flush=True)
    lines = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(lines), sys.stdin)
    while line := await lines.readline():
        print(json.dumps(path.obey(*line.decode().split())), flush=True)
    os._exit(0)


asyncio.run(main())
