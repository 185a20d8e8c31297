"""What scripts/bench and scripts/soak share: the real program on free ports, keys for it, its metrics, a clip, and stagedoor-bench."""
import json
import os
import pathlib
import random
import signal
import socket
import subprocess
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = pathlib.Path(os.environ.get("STAGEDOOR_PROGRAMS", ROOT / ".build/release"))
PYTHON = ROOT / ".deps/venv/bin/python"
# A static router takes four ports for a stream. Below the ports that the system gives out, above those of well-known services.
ROUTER_PORT_COUNT, LOWEST_PORT, HIGHEST_PORT = 1_000, 12_000, 32_000
# What a program of ours may take beyond the time it was asked to measure: set-ups of 1,000 streams, and a busy machine.
PATIENCE_SECONDS = 120
PICTURE = "testsrc2=s={}:r=30:d=10,noise=alls=10:allf=t:all_seed=7"
CLIP = [
    "-f", "lavfi", "-i", "sine=f=440:r=48000:d=10",
    "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-profile:v", "baseline", "-bf", "0", "-g", "60",
    "-keyint_min", "60", "-sc_threshold", "0"]


def clip(name: str, audio: list[str], bitrate: str = "2500k", size: str = "1280x720") -> pathlib.Path:
    path = ROOT / ".build/clips" / f"bench-{name}.flv"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        video = ["-b:v", bitrate, "-maxrate", bitrate, "-bufsize", bitrate]
        picture = ["-f", "lavfi", "-i", PICTURE.format(size)]
        # Who is interrupted leaves no half of a clip behind.
        part = path.with_suffix(".part")
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *picture, *CLIP, *video, *audio, "-f", "flv", part], check=True)
        part.rename(path)
    return path


def free_port() -> int:
    """Of TCP and UDP, at this moment."""
    while True:
        with socket.socket() as stream, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
            stream.bind(("127.0.0.1", 0))
            try:
                datagrams.bind(stream.getsockname())
            except OSError:
                continue
            return stream.getsockname()[1]


def free_ports(count: int) -> tuple[int, int]:
    """First and last of that many UDP ports in a row, free at this moment: measurements beside each other share none."""
    for _ in range(100):
        first = random.randrange(LOWEST_PORT, HIGHEST_PORT - count, 100)
        if all(is_free(port) for port in range(first, first + count)):
            return first, first + count - 1
    raise RuntimeError(f"no {count} free ports in a row")


def is_free(port: int) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as datagrams:
        try:
            datagrams.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True


class Gateway:
    """The real program in quickstart mode with a static router on this machine; one address is many strangers."""

    def __init__(self, settings_beside: str = "", more_routers: str = "", router_ports: tuple[int, int] | None = None,
                 layers: str = "auto"):
        self.media_port = free_port()
        self.router_ports = router_ports or free_ports(ROUTER_PORT_COUNT)
        self.data = tempfile.TemporaryDirectory(prefix="stagedoor-bench-")
        settings = pathlib.Path(self.data.name, "bench.yaml")
        settings.write_text(f"""
http: {{listen: "127.0.0.1:0"}}
https: {{listen: "127.0.0.1:0"}}
rtmp: {{listen: "127.0.0.1:0"}}
media: {{listen: "127.0.0.1:{self.media_port}"}}
admin: {{listen: "127.0.0.1:0"}}
routers:
  local: {{driver: static, host: "127.0.0.1", ports: "{self.router_ports[0]}-{self.router_ports[1]}", layers: {layers}}}
{more_routers}
{settings_beside}
rates: {{resources: 10000, tokens: 10000}}
quotas: {{ingestConfigurations: 2000, publishers: 5000}}
limits: {{connectionsPerAddress: 5000}}
overload: {{cpu: 100, loopLag: 5s}}
""")
        log = open(pathlib.Path(self.data.name, "log"), "w")
        self.process = subprocess.Popen(
            [PROGRAMS / "stagedoor", "serve", "--quickstart", "--config", settings, "--data", f"{self.data.name}/data"],
            stdout=log, stderr=log, env={name: value for name, value in os.environ.items() if name != "STAGEDOOR_PROGRAMS"})
        ready = pathlib.Path(self.data.name, "data/quickstart.json")
        end = time.monotonic() + PATIENCE_SECONDS
        while self.process.poll() is None and time.monotonic() < end and not ready.exists():
            time.sleep(0.02)
        if self.process.poll() is not None or not ready.exists():
            self.process.kill()
            raise RuntimeError(f"stagedoor did not start: {pathlib.Path(self.data.name, 'log').read_text()[-2_000:]}")
        self.quickstart = json.loads(ready.read_text())

    def keys(self, count: int, recorded_in: str = "") -> list[str]:
        """- recorded_in: the bucket, a name of the configuration file's, that their stages are recorded into."""
        return self.make("ingests.py", count, *filter(None, [recorded_in]))[:count]

    def tokens(self, count: int) -> list[str]:
        return self.make("tokens.py", count)[:count]

    def pairs(self, count: int) -> list[list[str]]:
        """Stream keys of two encoders that are one participant."""
        keys = self.make("redundant_ingests.py", count)
        return [keys[index:index + 2] for index in range(0, 2 * count, 2)]

    def token_file(self, count: int, name: str = "tokens") -> str:
        path = pathlib.Path(self.data.name, name)
        path.write_text("\n".join(self.tokens(count)))
        return str(path)

    def make(self, client: str, count: int, *more: str, each: int = 10) -> list[str]:
        quickstart = self.quickstart
        made = subprocess.run(
            [PYTHON, ROOT / "Tests/Interop/Clients" / client, quickstart["adminURL"], quickstart["accessKeyId"],
             quickstart["secretAccessKey"], quickstart.get("region", "us-east-1"), str(-(-count // each)), str(each), *more],
            capture_output=True, text=True, timeout=PATIENCE_SECONDS)
        if made.returncode != 0:
            raise RuntimeError(f"{client}: {made.stderr[-2_000:]}")
        return made.stdout.split()

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.data.cleanup()


def bench(*arguments, seconds: float = 0) -> dict:
    """What stagedoor-bench reports; `seconds` is how long it was asked to measure."""
    words = [str(argument) for argument in arguments]
    done = subprocess.run(
        [PROGRAMS / "stagedoor-bench", *words], capture_output=True, text=True, timeout=seconds + PATIENCE_SECONDS)
    if not done.stdout.strip():
        raise RuntimeError(f"stagedoor-bench {' '.join(words)}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])


def running_bench(*arguments: str) -> subprocess.Popen:
    """Reports on standard output when it is interrupted."""
    program = subprocess.Popen([PROGRAMS / "stagedoor-bench", *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if arguments[0] == "receive" and (line := program.stderr.readline()) != "receiving\n":
        raise RuntimeError(f"the receiver: {line}{program.stderr.read()}")
    return program


def finished(program: subprocess.Popen) -> dict:
    program.send_signal(signal.SIGINT)
    return json.loads(program.communicate(timeout=60)[0].splitlines()[-1])


def metrics(gateway: Gateway) -> dict[str, float]:
    """Sums over labels."""
    sums: dict[str, float] = {}
    with urllib.request.urlopen(f"{gateway.quickstart['adminURL']}/metrics", timeout=10) as answer:
        for line in answer.read().decode().splitlines():
            if not line.startswith("#") and " " in line:
                name, value = line.rsplit(" ", 1)
                key = name.split("{")[0]
                sums[key] = sums.get(key, 0) + float(value)
    return sums


def wait_for(gateway: Gateway, name: str, value: float):
    """Until a metric has become that large."""
    end = time.monotonic() + PATIENCE_SECONDS
    while metrics(gateway).get(name, 0) < value:
        if time.monotonic() > end:
            raise RuntimeError(f"{name} did not become {value:.0f}")
        time.sleep(0.1)
