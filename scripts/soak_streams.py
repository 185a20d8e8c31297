"""What stays live while scripts/soak goes on: streams of every kind, viewers, and pairs of encoders of which one is killed now and then."""
import random
import signal
import subprocess

from bench_viewers import watching
from gateway_run import PROGRAMS, clip, finished, running_bench

# Of all streams, in hundredths; the rest comes by RTMP. A pair of encoders is one stream.
WHIP, LAYERED, RECORDED, PAIRS, VIEWERS = 10, 10, 10, 5, 10


def part(streams: int, hundredths: int) -> int:
    return max(1, streams * hundredths // 100)


class LiveStreams:
    """- bucket: the name of the store that some of them are recorded into."""

    def __init__(self, gateway, streams: int, flv, bucket: str, seconds: float):
        self.gateway, quick = gateway, gateway.quickstart
        self.recorded = part(streams, RECORDED)
        whip, layered, pairs = (part(streams, share) for share in (WHIP, LAYERED, PAIRS))
        keys = gateway.keys(max(0, streams - self.recorded - whip - layered - pairs - 1)) + [quick["streamKey"]]
        lower = [clip("small-mid", ["-an"], "250k", "640x360"), clip("small-low", ["-an"], "100k", "320x180")]
        layers = [word for path in (flv, *lower) for word in ("--flv", str(path))]
        media, limit = ["--flv", str(flv)], ["--seconds", str(seconds)]
        self.programs = [
            running_bench("rtmp", quick["rtmpURL"], *options("--key", keys), *media, *limit),
            running_bench("rtmp", quick["rtmpURL"], *options("--key", gateway.keys(self.recorded, recorded_in=bucket)), *media, *limit),
            running_bench("whip", quick["whipURL"], "--tokens", gateway.token_file(whip), *media, *limit),
            running_bench("whip", quick["whipURL"], "--tokens", gateway.token_file(layered, "layered"), *layers, *limit)]
        self.pairs = [Pair(gateway, keys, flv, seconds) for keys in gateway.pairs(pairs)]
        self.viewers: subprocess.Popen | None = None

    def let_watch(self, streams: int, seconds: float):
        """Once the stream that is watched is live."""
        self.viewers = watching(self.gateway, part(streams, VIEWERS), seconds)

    def is_whole(self) -> bool:
        return all(program.poll() is None for program in [*self.programs, self.viewers])

    def finish(self) -> list[dict]:
        """What the encoders say, but for the pairs', which were killed and began anew; viewers leave first."""
        watched = finished(self.viewers)
        print(f"viewers lost {watched['lost']} of {watched['packets']} packets, their own sockets' included; faults: {watched['failures']}")
        reports = [finished(program) for program in self.programs]
        for pair in self.pairs:
            pair.close()
        return reports


class Pair:
    """Two encoders that are one participant."""

    def __init__(self, gateway, keys: list[str], flv, seconds: float):
        self.commands = [
            [PROGRAMS / "stagedoor-bench", "rtmp", gateway.quickstart["rtmpURL"], "--key", key, "--flv", str(flv), "--seconds", str(seconds)]
            for key in keys]
        self.encoders = [self.start(number) for number in range(2)]

    def start(self, number: int) -> subprocess.Popen:
        return subprocess.Popen(self.commands[number], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def lose_one(self, wait):
        """One of them dies, of which nobody knows whether it is the source, and is back after a while."""
        number = random.randrange(2)
        self.encoders[number].send_signal(random.choice([signal.SIGKILL, signal.SIGTERM]))
        self.encoders[number].wait()
        wait(random.uniform(1, 4))
        self.encoders[number] = self.start(number)

    def close(self):
        for encoder in self.encoders:
            encoder.kill()
            encoder.wait()


def options(name: str, values: list[str]) -> list[str]:
    return [word for value in values for word in (name, value)]
