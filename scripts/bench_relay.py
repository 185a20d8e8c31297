"""`stagedoor-bench relay`: the floor, under the load, the receiver and with the number of threads that the gateway gets."""
import os
import subprocess

from bench_load import rtmp, whip
from gateway_run import PROGRAMS, free_port, free_ports


class BareRelay:
    """- kind: rtmp or srtp; options are those of the program."""

    def __init__(self, kind: str, streams: int, ports: tuple[int, int], *options):
        self.streams, self.ports = streams, ports
        self.port = free_port() if kind == "rtmp" else beside(ports, streams)
        # As many as the gateway has media loops by default.
        command = ["relay", kind, "--port", self.port, "--to", ports[0], "--streams", streams, "--workers", os.cpu_count(), *options]
        self.process = subprocess.Popen(
            [PROGRAMS / "stagedoor-bench", *map(str, command)], stderr=subprocess.PIPE, text=True)
        if (line := self.process.stderr.readline()) != "relaying\n":
            raise RuntimeError(f"the relay: {line}{self.process.stderr.read()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def rtmp(self, flv, seconds: float, waits: bool, *options):
        keys = [f"stream{number}" for number in range(self.streams)]
        return rtmp(f"rtmp://127.0.0.1:{self.port}/live", keys, flv, seconds, self.process.pid, self.ports, *options, waits=waits)

    def whip(self, seconds: float, waits: bool, *options):
        tokens = ["nobody"] * self.streams
        return whip(f"srtp://127.0.0.1:{self.port}", tokens, seconds, self.process.pid, self.ports, "--bare", *options, waits=waits)


def beside(taken: tuple[int, int], count: int) -> int:
    """The first of that many free ports, none of them a receiver's, who binds them later."""
    while True:
        first, last = free_ports(count)
        if last < taken[0] or first > taken[1]:
            return first
