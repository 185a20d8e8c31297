"""The jobs of scripts/bench with many streams: how the cost of one grows, what a second worker adds, and how many are held."""
from bench_clips import with_opus
from bench_load import AAC, CPU, rtmp, whip
from bench_relay import BareRelay
from bench_streams import RTMP, Turns
from gateway_run import Gateway, clip, free_ports, metrics

# Of two workers each has half: one alone is filled with 64 first.
SHARED_BY_WORKERS = 140
# Target by the number of workers and of streams; the first of two jobs is what the second is compared with.
GROWTH, WORKERS = 1.10, 1.15


def passed():
    """600 kbit/s, and Opus that is passed on."""
    return with_opus(clip("small", ["-an"], bitrate="600k"))


class ManyStreams:
    """A gateway whose router has ports for that many."""

    def __init__(self, count: int, settings: str = ""):
        self.count = count
        # Two sessions may hold ports while one publisher follows another.
        self.gateway = Gateway(settings, router_ports=free_ports(4 * count + 100))
        self.publishers: dict[str, list[str]] = {}

    def rtmp(self, flv, seconds):
        gateway = self.gateway
        if "keys" not in self.publishers:
            self.publishers["keys"] = gateway.keys(self.count)
        return rtmp(
            gateway.quickstart["rtmpURL"], self.publishers["keys"], flv, seconds, gateway.process.pid, gateway.router_ports)

    def rtmp_through_relay(self, flv, seconds):
        """The floor, to the same ports."""
        with BareRelay("rtmp", self.count, self.gateway.router_ports) as relay:
            return relay.rtmp(flv, seconds, waits=False)

    def whip(self, flv, seconds):
        gateway = self.gateway
        if "tokens" not in self.publishers:
            self.publishers["tokens"] = gateway.tokens(self.count)
        return whip(gateway.quickstart["whipURL"], self.publishers["tokens"], seconds, gateway.process.pid, gateway.router_ports, flv=flv)

    def close(self):
        self.gateway.close()


def growth(table, seconds, rounds, peers):
    gateways, turns = {f"{count} streams": ManyStreams(count) for count in (50, 500)}, Turns()
    try:
        for _ in range(rounds):
            for name, streams in gateways.items():
                turns.add(name, "ours", streams.rtmp(passed(), seconds))
                turns.add(name, "relay", streams.rtmp_through_relay(passed(), seconds))
    finally:
        for streams in gateways.values():
            streams.close()
    for name in gateways:
        turns.row(table, f"RTMP to RTP, 600 kbit/s, Opus passed, {name}", name, RTMP)
    table.row("500 streams in place of 50", least_ratio(turns, "500 streams", "50 streams"), "times the CPU of each", GROWTH)


def workers(table, seconds, rounds, peers):
    counts, turns = {"one worker": 1, "two workers": 2}, Turns()
    gateways = {name: ManyStreams(SHARED_BY_WORKERS, f"workers: {{count: {count}}}") for name, count in counts.items()}
    try:
        for _ in range(rounds):
            for name, streams in gateways.items():
                turns.add(name, "ours", streams.rtmp(passed(), seconds))
    finally:
        for streams in gateways.values():
            streams.close()
    for name in counts:
        best = turns.best(name, "ours")
        table.row(f"RTMP to RTP, 600 kbit/s, Opus passed, {SHARED_BY_WORKERS} streams, {name}", best.cost, CPU, note=best.note)
    table.row("two workers in place of one", least_ratio(turns, "two workers", "one worker"), "times the CPU of each stream", WORKERS)


def least_ratio(turns: Turns, job: str, other: str) -> float:
    """How many times the other job's cost one has, by the best of the rounds."""
    return min(run.cost / beside.cost for run, beside in zip(turns.runs[job, "ours"], turns.runs[other, "ours"]))


def hold(table, seconds, rounds, peers):
    """As many as this machine shall hold, sender and receiver beside them, and what got lost inside; the better of two attempts."""
    jobs = [
        (1_000, "RTMP, 600 kbit/s, Opus passed", lambda streams: streams.rtmp(passed(), seconds)),
        (250, "RTMP, 600 kbit/s, AAC to Opus", lambda streams: streams.rtmp(clip("small-aac", AAC, bitrate="600k"), seconds)),
        (500, "WHIP, 600 kbit/s", lambda streams: streams.whip(clip("small-aac", AAC, bitrate="600k"), seconds)),
    ]
    for count, name, job in jobs:
        missing, note = held(count, job)
        if missing:
            missing, note = min((missing, note), held(count, job))
        table.row(f"{count} streams held, {name}", missing, "streams and packets lost", 0, note=note)


def held(count: int, job) -> tuple[int, str]:
    """Streams and packets that got lost inside, and what there is to say; what a kernel dropped, of either side, is told apart."""
    streams = ManyStreams(count)
    try:
        run = job(streams)
        overrun = int(metrics(streams.gateway).get("stagedoor_udp_rcvbuf_errors_total", 0))
    finally:
        streams.close()
    live = run.sent["streams"] - run.sent.get("endedByServer", 0)
    note = (f"{live} held at {run.cost:.2f} {CPU}; {run.note}; dropped by the kernel {overrun} on the way in, "
            f"{run.received['droppedByKernel']} on the way out")
    return count - live + max(0, run.lost_inside - overrun), note
