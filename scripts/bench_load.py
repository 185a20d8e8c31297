"""The load of scripts/bench: many streams by RTMP or WHIP toward a server, received as a router would, and what came of it."""
import json
import pathlib
import signal
import subprocess
import tempfile

from bench_clips import with_opus
from gateway_run import PROGRAMS, bench, clip

CPU = "ms CPU a stream-second"
AAC = ["-c:a", "aac", "-b:a", "128k", "-ac", "2"]
# The receiver ends itself when nothing has come for 1.5 s; a busy machine gets more.
RECEIVER_PATIENCE_SECONDS = 30


def full() -> pathlib.Path:
    return clip("aac", AAC)


def silent() -> pathlib.Path:
    return clip("silent", ["-an"])


def passed() -> pathlib.Path:
    """Video, and Opus by Enhanced RTMP: the contract asks for both."""
    return with_opus(silent())


def lower_layers() -> list:
    """Options of stagedoor-bench that put two layers below the first one, as IVS' web SDK makes them."""
    lower = [clip("mid", ["-an"], "700k", "640x360"), clip("low", ["-an"], "200k", "320x180")]
    return [word for flv in lower for word in ("--flv", flv)]


class Receiver:
    """Takes what a server sends to a range of ports, in a process of its own, and keeps account.

    Waking it would be charged to the server whose packet does so, a fifth of what a stream costs and nothing that a network card
    charges: it looks every 2 ms, but where latencies are measured or it is told to wait."""

    def __init__(self, ports: tuple[int, int], seconds: float, waits: bool = False):
        # Set-ups of a thousand streams come first; it ends itself when the streams have.
        command = ["receive", "--ports", f"{ports[0]}-{ports[1]}", "--seconds", str(seconds + 300), "--idle", "1.5"]
        if not waits:
            command.append("--rests")
        self.program = subprocess.Popen(
            [PROGRAMS / "stagedoor-bench", *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        if (line := self.program.stderr.readline()) != "receiving\n":
            raise RuntimeError(f"the receiver: {line}{self.program.stderr.read()}")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.program.poll() is None:
            self.program.kill()
            self.program.communicate()

    def report(self) -> dict:
        try:
            output = self.program.communicate(timeout=RECEIVER_PATIENCE_SECONDS)[0]
        except subprocess.TimeoutExpired:
            self.program.send_signal(signal.SIGINT)
            output = self.program.communicate(timeout=RECEIVER_PATIENCE_SECONDS)[0]
        return json.loads(output.splitlines()[-1])


class Run:
    """One load on one server: what the sender says, and what the receiver does."""

    def __init__(self, sent: dict, received: dict):
        if "process" not in sent:
            raise RuntimeError(f"no stream was accepted, {sent['refused']} refused, {sent.get('failures', '')}")
        self.sent, self.received = sent, received

    @property
    def cost(self) -> float:
        """CPU milliseconds of a stream and second."""
        return self.sent["process"]["cpuMillisecondsPerStreamSecond"]

    @property
    def cost_per_megabit(self) -> float:
        """CPU milliseconds of what comes in, layers and audio together."""
        megabits = self.sent["bytes"] * 8 / 1e6 / self.sent["seconds"]
        return self.sent["process"]["cpuMillisecondsPerSecond"] / megabits

    @property
    def lost_inside(self) -> int:
        return max(0, self.received["lost"] - self.received["droppedByKernel"])

    @property
    def note(self) -> str:
        refused = self.sent["refused"] + self.sent.get("endedByServer", 0)
        return f"lost {self.lost_inside} of {self.received['received']}" + (f", {refused} refused or ended" if refused else "")

    @property
    def memory_per_stream(self) -> float:
        process = self.sent["process"]
        return (process["after"]["rssKilobytes"] - process["before"]["rssKilobytes"]) / max(1, self.sent["streams"])


def rtmp(url: str, keys: list[str], flv: pathlib.Path, seconds: float, pid: int, ports: tuple[int, int], *options, waits: bool = False) -> Run:
    with Receiver(ports, seconds, waits or "--marks" in options) as receiver, lines(keys) as file:
        return Run(send_rtmp(url, file.name, flv, seconds, pid, *options), receiver.report())


def rtmp_only_taken(url: str, keys: list[str], flv: pathlib.Path, seconds: float, pid: int) -> Run:
    """By a server that sends nothing on: a receiver would wait for its first packet."""
    with lines(keys) as file:
        return Run(send_rtmp(url, file.name, flv, seconds, pid), {})


def send_rtmp(url: str, keys: str, flv: pathlib.Path, seconds: float, pid: int, *options) -> dict:
    return bench("rtmp", url, "--keys", keys, "--flv", flv, "--seconds", seconds, "--pid", pid, *options, seconds=seconds)


def whip(url: str, tokens: list[str], seconds: float, pid: int, ports: tuple[int, int], *options, flv: pathlib.Path | None = None,
         waits: bool = False) -> Run:
    with Receiver(ports, seconds, waits or "--marks" in options) as receiver, lines(tokens) as file:
        sent = bench("whip", url, "--tokens", file.name, "--flv", flv or full(), "--seconds", seconds, "--pid", pid, *options,
                     seconds=seconds)
        return Run(sent, receiver.report())


def lines(values: list[str]):
    file = tempfile.NamedTemporaryFile("w")
    file.write("\n".join(values))
    file.flush()
    return file
