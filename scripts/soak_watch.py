"""What scripts/soak looks at while it runs, and how it judges it."""
import time

from gateway_run import finished, metrics
from process_figures import descriptors, resident


class Watch:
    # From the end of the first quarter, when every pool has been filled once and SQLite's caches are full (512 KiB for each of two
    # files: DatabaseFile.maximumCache), to the end.
    MAXIMUM_GROWTH_KILOBYTES = 5_120
    # Sessions that come and go are in every sample.
    MAXIMUM_MORE_DESCRIPTORS = 40
    # Of a recorded stream of 800 kbit/s: the segment that is being written, and the one that is on its way.
    SPOOL_BYTES_A_STREAM = 2 * 6 * 100_000
    # Until what could not be stored is stored.
    STORING_PATIENCE_SECONDS = 120

    def __init__(self, gateway, live):
        self.gateway, self.live, self.pid = gateway, live, gateway.process.pid
        self.samples: list[tuple[float, int, int]] = []
        self.largest_spool = 0

    def samples_until(self, deadline: float, interval: float, troubles) -> str | None:
        began, shown = time.monotonic(), 0.0
        while time.monotonic() < deadline:
            if self.gateway.process.poll() is not None:
                return "the gateway ended"
            if not self.live.is_whole():
                return "a live stream was cut"
            elapsed = time.monotonic() - began
            self.samples.append((elapsed, resident(self.pid), descriptors(self.pid)))
            spool = self.spool()
            self.largest_spool = max(self.largest_spool, spool)
            if elapsed - shown >= 30:
                shown = elapsed
                print(f"{elapsed:6.0f} s  {self.samples[-1][1]:7} kB  {self.samples[-1][2]} descriptors  {spool:9} bytes in the spool  "
                      f"{dict(troubles.counts)}", flush=True)
            time.sleep(interval)
        return None

    def spool(self) -> int:
        return int(metrics(self.gateway).get("stagedoor_recording_spool_bytes", 0))

    def spool_returns(self) -> bool:
        """Whether the spool gets by with what live recordings need, now that nothing is in the way."""
        return self.spool_falls_to(self.live.recorded * self.SPOOL_BYTES_A_STREAM)

    def spool_falls_to(self, bytes: int) -> bool:
        end = time.monotonic() + self.STORING_PATIENCE_SECONDS
        while self.spool() > bytes:
            if time.monotonic() > end:
                return False
            time.sleep(1)
        return True

    def settled(self) -> list[tuple[float, int, int]]:
        return [sample for sample in self.samples if sample[0] >= self.samples[-1][0] / 4]

    def growth(self) -> int:
        """By the medians of both ends, so that one session in flight is no leak."""
        memory = [sample[1] for sample in self.settled()]
        part = max(1, len(memory) // 5)
        return median(memory[-part:]) - median(memory[:part])

    def more_descriptors(self) -> int:
        counts = [sample[2] for sample in self.settled()]
        part = max(1, len(counts) // 5)
        return median(counts[-part:]) - median(counts[:part])

    def slope(self) -> float:
        points = self.settled()
        middle = sum(point[0] for point in points) / len(points)
        mean = sum(point[1] for point in points) / len(points)
        spread = sum((point[0] - middle) ** 2 for point in points) or 1
        return sum((point[0] - middle) * (point[1] - mean) for point in points) / spread * 3_600

    def finish(self, steady) -> dict[str, int]:
        """Ends the live streams, then the receiver; the relay's own drops are no loss, nor are the kernel's at either side."""
        figures = metrics(self.gateway)
        relay = int(figures.get("stagedoor_forward_drop_total", 0))
        overrun = int(figures.get("stagedoor_udp_rcvbuf_errors_total", 0))
        reports = self.live.finish()
        time.sleep(2)
        got = finished(steady)
        inside = max(0, got["lost"] - got["droppedByKernel"] - relay - overrun)
        refused = sum(report["refused"] + report["endedByServer"] for report in reports)
        if refused:
            print(f"{refused} live streams were refused or ended by the server")
        return {"inside": inside + refused, "received": got["received"], "relay": relay, "in": overrun, "out": got["droppedByKernel"]}


def median(values: list[int]) -> int:
    return sorted(values)[len(values) // 2]
