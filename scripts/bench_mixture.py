"""The job of scripts/bench with everything at once: every way in, codecs, layers, recordings, viewers and strangers at one gateway."""
import contextlib
import random
import socket
import threading
import time
import urllib.parse

from bench_load import AAC, lines
from bench_many import passed
from bench_viewers import ROOM, ROUTER, watching
from gateway_run import Gateway, clip, finished, free_ports, metrics, running_bench
from process_figures import cpu_by_thread

# How many of each make the whole.
WHOLE = {"RTMP": 1_000, "WHIP": 500, "transcoded": 250, "recorded": 100, "of three layers": 50, "viewers": 50}
RECORDED_BUCKET = "recordings"
# Where so many are not held, fewer are tried, by this factor and so often.
STEP, ATTEMPTS = 0.7, 7
# Until all are live; what has not come by then is missing.
PATIENCE_SECONDS = 60
# Ports of the static router: two for each track; the receiver takes them all.
PORTS, LAYERED_PORTS = 4, 8


class Strangers:
    """Five in a hundred datagrams at the media port, and a connection for every twenty encoders and second, that mean nothing."""
    DATAGRAMS, CONNECTIONS = 6.5, 0.05
    INTERVAL = 0.05

    def __init__(self, gateway, media_streams: int, connections: int):
        self.gateway = gateway
        self.datagrams, self.connections = self.DATAGRAMS * media_streams * self.INTERVAL, self.CONNECTIONS * connections * self.INTERVAL
        self.stopping, self.counts = threading.Event(), {"datagrams": 0, "connections": 0}
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        quick = self.gateway.quickstart
        targets = [urllib.parse.urlsplit(quick[name]) for name in ("rtmpURL", "whipURL")]
        owed = {"datagrams": 0.0, "connections": 0.0}
        while not self.stopping.wait(self.INTERVAL):
            owed["datagrams"] += self.datagrams
            owed["connections"] += self.connections
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.bind((self.address(), 0))
                while owed["datagrams"] >= 1:
                    first = random.choice([0, 1, 20, 22, 63, 128, 191, 255])
                    with contextlib.suppress(OSError):
                        sender.sendto(bytes([first]) + random.randbytes(random.randrange(1_200)), ("127.0.0.1", self.gateway.media_port))
                    owed["datagrams"] -= 1
                    self.counts["datagrams"] += 1
            while owed["connections"] >= 1:
                target = random.choice(targets)
                with contextlib.suppress(OSError), socket.create_connection(
                        (target.hostname, target.port), timeout=1, source_address=(self.address(), 0)) as connection:
                    connection.sendall(random.choice([b"\x03", b"\x16\x03\x01", b"POST /whip "]) + random.randbytes(random.randrange(4_000)))
                owed["connections"] -= 1
                self.counts["connections"] += 1

    @staticmethod
    def address() -> str:
        return f"127.0.9.{random.randrange(1, 255)}"

    def stop(self):
        self.stopping.set()
        self.thread.join(10)


class Mixture:
    """The whole times a factor, at a gateway of its own."""

    def __init__(self, scale: float):
        self.counts = {kind: max(1, round(count * scale)) for kind, count in WHOLE.items()}
        self.streams = sum(self.counts.values()) - self.counts["viewers"] + 1  # and the one that is watched
        ports = PORTS * self.streams + LAYERED_PORTS * self.counts["of three layers"] + 100
        self.gateway = Gateway(ROOM, more_routers=ROUTER, router_ports=free_ports(ports), layers="all")
        self.programs, self.files = {}, []

    def start(self, seconds: float) -> str | None:
        """One kind after the other, and viewers last; what is amiss, if anything."""
        gateway, counts, quick, live = self.gateway, self.counts, self.gateway.quickstart, 0
        first, last = gateway.router_ports
        self.programs["receiver"] = running_bench("receive", "--rests", "--ports", f"{first}-{last}", "--seconds", str(seconds))
        small = clip("small-aac", AAC, bitrate="600k")
        lower = [clip("small-mid", ["-an"], "250k", "640x360"), clip("small-low", ["-an"], "100k", "320x180")]
        loads = {
            "WHIP": ("whip", gateway.tokens(counts["WHIP"]), [small]),
            "of three layers": ("whip", gateway.tokens(counts["of three layers"]), [small, *lower]),
            "RTMP": ("rtmp", [*gateway.keys(counts["RTMP"]), quick["streamKey"]], [passed()]),
            "transcoded": ("rtmp", gateway.keys(counts["transcoded"]), [small]),
            "recorded": ("rtmp", gateway.keys(counts["recorded"], recorded_in=RECORDED_BUCKET), [passed()])}
        for kind, (command, credentials, clips) in loads.items():
            self.publish(kind, command, credentials, clips, seconds)
            live += len(credentials)
            if fault := self.wait("stagedoor_sessions", live):
                return fault
        self.programs["viewers"] = watching(self.gateway, self.counts["viewers"], seconds)
        return self.wait("stagedoor_whep_subscribers", self.counts["viewers"])

    def publish(self, kind: str, command: str, credentials: list[str], clips: list, seconds: float):
        self.files.append(lines(credentials))
        option = "--keys" if command == "rtmp" else "--tokens"
        flv = [word for path in clips for word in ("--flv", str(path))]
        url = self.gateway.quickstart[f"{command}URL"]
        self.programs[kind] = running_bench(command, url, option, self.files[-1].name, *flv, "--seconds", str(seconds))

    def wait(self, name: str, count: int) -> str | None:
        end = time.monotonic() + PATIENCE_SECONDS
        while (live := int(metrics(self.gateway).get(name, 0))) < count:
            for kind, program in self.programs.items():
                if program.poll() is not None:
                    return f"{kind} ended: {' '.join(program.communicate())[:300]}"
            if time.monotonic() > end:
                return f"{live} of {count} came ({name})"
            time.sleep(0.5)
        return None

    def judge(self, seconds: float) -> tuple[int, str]:
        """Streams and packets lost inside, and what there is to say."""
        encoders = self.streams - self.counts["WHIP"] - self.counts["of three layers"]
        # The three layers of a stream are three streams' datagrams, nearly.
        strangers = Strangers(self.gateway, self.counts["WHIP"] + 2 * self.counts["of three layers"], encoders)
        try:
            before, began = cpu_by_thread(self.gateway.process.pid).total(), time.monotonic()
            time.sleep(seconds)
            cpu = (cpu_by_thread(self.gateway.process.pid).total() - before) / (time.monotonic() - began) / 1_000
        finally:
            strangers.stop()
        end = metrics(self.gateway)
        reports = {kind: finished(self.programs[kind]) for kind in reversed(self.programs) if kind != "receiver"}
        time.sleep(1)
        received = finished(self.programs["receiver"])
        overrun = int(end.get("stagedoor_udp_rcvbuf_errors_total", 0))
        live = sum(report["streams"] - report["endedByServer"] for kind, report in reports.items() if kind != "viewers")
        watched = reports["viewers"]
        # What the gateway's own kernel dropped, came faster than it was taken: that is not held.
        lost = max(0, received["lost"] - received["droppedByKernel"])
        gaps = int(end.get("stagedoor_recording_overruns_total", 0))
        missing = self.streams - live + self.counts["viewers"] - watched["viewers"]
        return missing + lost + watched["lost"] + gaps, (
            f"{cpu:.2f} cores; {live} streams live, lost {lost} of {received['received']}, viewers {watched['lost']} of {watched['packets']},"
            f" {gaps} recording gaps; dropped by the kernel {overrun} on the way in, {received['droppedByKernel']} on the way out;"
            f" strangers: {strangers.counts['datagrams']} datagrams, {strangers.counts['connections']} connections")

    def close(self):
        for program in self.programs.values():
            program.kill()
            program.communicate()
        for file in self.files:
            file.close()
        self.gateway.close()


def mixture(table, seconds, rounds, peers):
    """As much of it as this machine holds, sender and receiver beside it."""
    not_held = []
    for attempt_number in range(ATTEMPTS):
        scale = table.scale * STEP ** attempt_number
        missing, note, counts = attempt(scale, seconds)
        if missing == 0:
            break
        not_held.append(f"× {scale:.2f}: {note}")
    named = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    table.row(f"mixture × {scale:.2f}: {named}", missing, "streams, packets and gaps lost", 0,
              note="; ".join([note, *(["not held at " + "; ".join(not_held)] if missing == 0 and not_held else [])]))


def attempt(scale: float, seconds: float) -> tuple[int, str, dict[str, int]]:
    """What was lost, what there is to say, and how many there were of each."""
    with contextlib.closing(Mixture(scale)) as mixture:
        if fault := mixture.start(seconds + 8 * PATIENCE_SECONDS):
            return mixture.streams, fault, mixture.counts
        # What set-ups made late is caught up.
        time.sleep(3)
        return *mixture.judge(seconds), mixture.counts
