"""The jobs of scripts/bench with many streams: how the cost of one grows, what a second worker adds, and how many are held."""
from bench_clips import with_opus
from bench_load import AAC, rtmp, whip
from gateway_run import Gateway, clip, free_ports, metrics

CPU = "ms CPU a stream-second"
# What each worker keeps for itself shows with few streams; 50 are enough for the media path to count.
SHARED_BY_WORKERS = 50
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

    def whip(self, flv, seconds):
        gateway = self.gateway
        if "tokens" not in self.publishers:
            self.publishers["tokens"] = gateway.tokens(self.count)
        return whip(gateway.quickstart["whipURL"], self.publishers["tokens"], seconds, gateway.process.pid, gateway.router_ports, flv=flv)

    def close(self):
        self.gateway.close()


def compared(few: ManyStreams, many: ManyStreams, seconds: float, rounds: int) -> tuple:
    """The best run of each, and how many times the cost of the first one the second has, by the best of the rounds."""
    runs = []
    try:
        for _ in range(rounds):
            runs.append((few.rtmp(passed(), seconds), many.rtmp(passed(), seconds)))
    finally:
        few.close()
        many.close()
    ratio = min(second.cost / first.cost for first, second in runs)
    return min((first for first, _ in runs), key=lambda run: run.cost), min((second for _, second in runs), key=lambda run: run.cost), ratio


def growth(table, seconds, rounds, peers):
    few, many, ratio = compared(ManyStreams(50), ManyStreams(500), seconds, rounds)
    table.row("RTMP to RTP, 600 kbit/s, Opus passed, 50 streams", few.cost, CPU, note=few.note)
    table.row("RTMP to RTP, 600 kbit/s, Opus passed, 500 streams", many.cost, CPU, note=many.note)
    table.row("500 streams in place of 50", ratio, "times the CPU of each", GROWTH)


def workers(table, seconds, rounds, peers):
    one, two, ratio = compared(
        *(ManyStreams(SHARED_BY_WORKERS, f"workers: {{count: {count}}}") for count in (1, 2)), seconds, rounds)
    table.row(f"RTMP to RTP, 600 kbit/s, Opus passed, {SHARED_BY_WORKERS} streams, one worker", one.cost, CPU, note=one.note)
    table.row(f"RTMP to RTP, 600 kbit/s, Opus passed, {SHARED_BY_WORKERS} streams, two workers", two.cost, CPU, note=two.note)
    table.row("two workers in place of one", ratio, "times the CPU of each stream", WORKERS)


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
