"""The job of scripts/bench that records: what a recorded stream costs more, what of it stays in memory, and how many are held."""
import collections
import contextlib
import pathlib
import shutil
import subprocess
import tempfile
import time

from bench_load import CPU, full, passed, rtmp
from gateway_run import Gateway, free_ports, metrics
from process_figures import cpu_by_thread

STREAMS, HELD_STREAMS = 50, 100
# Goals: of all threads, and of the media loops alone, which copy and hand over.
ALL_THREADS, MEDIA_LOOPS = 0.5, 0.10
SEGMENT_SECONDS, KEPT_SEGMENTS = 6, 2
# A recording's folders and documents are made once, and it lasts for hours.
LEAST_SECONDS = 5 * SEGMENT_SECONDS
# What is stored late is no loss; a disk that takes longer than this is a failure of the job.
STORING_PATIENCE_SECONDS = 120
MEDIA = {"Opus passed": passed, "AAC": full}


class RecordingGateway:
    """A gateway that has every participant recorded into a folder, beside the spool on whichever disk $TMPDIR names; or nobody."""

    def __init__(self, records: bool, streams: int):
        self.folder = tempfile.mkdtemp(prefix="stagedoor-recordings-")
        setting = f"recording: {{directory: {self.folder}}}" if records else ""
        self.gateway = Gateway(setting, router_ports=free_ports(4 * streams + 100))
        self.keys = self.gateway.keys(streams)
        self.pid = self.gateway.process.pid
        self.spool = pathlib.Path(self.gateway.data.name, "data/spool")

    def load(self, flv, seconds: float):
        """The run, and what each kind of thread has taken of a stream-second, until all is stored."""
        before = cpu_by_thread(self.pid)
        gateway = self.gateway
        run = rtmp(gateway.quickstart["rtmpURL"], self.keys, flv, seconds, self.pid, gateway.router_ports)
        self.wait_until_stored()
        spent = cpu_by_thread(self.pid)
        spent.subtract(before)
        for recording in pathlib.Path(self.folder).iterdir():
            shutil.rmtree(recording)
        stream_seconds = run.sent["streams"] * run.sent["seconds"]
        return run, collections.Counter({thread: milliseconds / stream_seconds for thread, milliseconds in spent.items()})

    def wait_until_stored(self):
        end = time.monotonic() + STORING_PATIENCE_SECONDS
        while self.spool.exists() and any(self.spool.iterdir()):
            if time.monotonic() > end:
                raise RuntimeError(f"after {STORING_PATIENCE_SECONDS} s not everything was stored")
            time.sleep(0.1)

    def gaps(self) -> int:
        """Times that media was left out because the disk did not keep up."""
        return int(metrics(self.gateway).get("stagedoor_recording_overruns_total", 0))

    @property
    def disk(self) -> str:
        found = subprocess.run(["findmnt", "-n", "-o", "FSTYPE", "-T", self.folder], capture_output=True, text=True)
        return found.stdout.strip() or "disk"

    def close(self):
        self.gateway.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def recording(table, seconds, rounds, peers):
    seconds = max(seconds, LEAST_SECONDS)
    with contextlib.ExitStack() as stack:
        plain, recorded = (opened(stack, records, STREAMS) for records in (False, True))
        turns = collections.defaultdict(list)
        for _ in range(rounds):
            for name, clip in MEDIA.items():
                turns[name].append((plain.load(clip(), seconds), recorded.load(clip(), seconds)))
        for name, rounds_of_it in turns.items():
            rows_of_cost(table, name, rounds_of_it, recorded.disk)
    memory(table)
    hold(table, seconds)


def opened(stack, records: bool, streams: int) -> RecordingGateway:
    gateway = RecordingGateway(records, streams)
    stack.callback(gateway.close)
    return gateway


def rows_of_cost(table, name: str, rounds_of_it: list, disk: str):
    """Of the round in which recording added least."""
    def more(turn):
        (_, alone), (_, recorded) = turn
        return recorded.total() - alone.total()

    best = min(rounds_of_it, key=more)
    (_, alone), (run, recorded) = best
    named = ", ".join(f"{thread} {recorded[thread]:.2f}" for thread in ("recorder", "uploads") if thread in recorded)
    table.row(f"a recorded stream more, RTMP, {name}, {STREAMS} streams", more(best), CPU, ALL_THREADS,
              note=f"{named}; {alone.total():.2f} without; {disk}; {run.note}")
    table.row(f"of that on media loops, {name}", recorded["worker"] - alone["worker"], CPU, MEDIA_LOOPS)


def memory(table):
    """A recorded stream's less another one's, each at a gateway of its own: what was given back hides nothing."""
    kilobytes = []
    for records in False, True:
        with contextlib.ExitStack() as stack:
            run, _ = opened(stack, records, STREAMS).load(passed(), 2.5 * SEGMENT_SECONDS)
            kilobytes.append(run.memory_per_stream)
            sent = run.sent
    segment = sent["bytes"] / sent["streams"] / sent["seconds"] * SEGMENT_SECONDS / 1_000
    table.row("memory of a recorded stream more", kilobytes[1] - kilobytes[0], "kB", KEPT_SEGMENTS * segment,
              note=f"{kilobytes[0]:.0f} without; the goal is {KEPT_SEGMENTS} segments of {SEGMENT_SECONDS} s")


def hold(table, seconds):
    with contextlib.ExitStack() as stack:
        gateway = opened(stack, True, HELD_STREAMS)
        run, spent = gateway.load(passed(), seconds)
        missing = HELD_STREAMS - run.sent["streams"] + run.sent.get("endedByServer", 0)
        table.row(f"{HELD_STREAMS} recorded streams of 2.5 Mbit/s held, Opus passed", missing + run.lost_inside + gateway.gaps(),
                  "streams and packets lost, recording gaps", 0,
                  note=f"{gateway.gaps()} gaps, {spent.total():.2f} {CPU}; {gateway.disk}; {run.note}")
