"""What scripts/bench and scripts/soak share: the real program on free ports, keys for it, a clip, and stagedoor-bench."""
import json
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAMS = ROOT / ".build/release"
PYTHON = ROOT / ".deps/venv/bin/python"
ROUTER_PORTS = (26_000, 26_999)
CLIP = [
    "-f", "lavfi", "-i", "testsrc2=s=1280x720:r=30:d=10,noise=alls=10:allf=t:all_seed=7", "-f", "lavfi", "-i", "sine=f=440:r=48000:d=10",
    "-c:v", "libx264", "-preset", "veryfast", "-pix_fmt", "yuv420p", "-profile:v", "baseline", "-bf", "0", "-g", "60",
    "-keyint_min", "60", "-sc_threshold", "0", "-b:v", "2500k", "-maxrate", "2500k", "-bufsize", "2500k"]


def clip(name: str, audio: list[str]) -> pathlib.Path:
    path = ROOT / ".build/clips" / f"bench-{name}.flv"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["ffmpeg", "-v", "error", "-nostdin", "-y", *CLIP, *audio, "-f", "flv", path], check=True)
    return path


class Gateway:
    """The real program in quickstart mode with a static router on this machine; one address is many strangers."""

    def __init__(self):
        self.data = tempfile.TemporaryDirectory(prefix="stagedoor-bench-")
        settings = pathlib.Path(self.data.name, "bench.yaml")
        settings.write_text(f"""
http: {{listen: "127.0.0.1:0"}}
https: {{listen: "127.0.0.1:0"}}
rtmp: {{listen: "127.0.0.1:0"}}
media: {{listen: "127.0.0.1:0"}}
admin: {{listen: "127.0.0.1:0"}}
routers:
  local: {{driver: static, host: "127.0.0.1", ports: "{ROUTER_PORTS[0]}-{ROUTER_PORTS[1]}"}}
rates: {{resources: 10000}}
quotas: {{ingestConfigurations: 1000}}
limits: {{connectionsPerAddress: 1000}}
overload: {{cpu: 100, loopLag: 5s}}
""")
        log = open(pathlib.Path(self.data.name, "log"), "w")
        self.process = subprocess.Popen(
            [PROGRAMS / "stagedoor", "serve", "--quickstart", "--config", settings, "--data", f"{self.data.name}/data"],
            stdout=log, stderr=log)
        ready = pathlib.Path(self.data.name, "data/quickstart.json")
        for _ in range(500):
            if ready.exists() or self.process.poll() is not None:
                break
            time.sleep(0.02)
        else:
            sys.exit("stagedoor did not start")
        if self.process.poll() is not None:
            sys.exit(pathlib.Path(self.data.name, "log").read_text())
        self.quickstart = json.loads(ready.read_text())

    def keys(self, count: int) -> list[str]:
        quickstart, each = self.quickstart, 10
        made = subprocess.run(
            [PYTHON, ROOT / "Tests/Interop/Clients/ingests.py", quickstart["adminURL"], quickstart["accessKeyId"],
             quickstart["secretAccessKey"], quickstart.get("region", "us-east-1"), str(-(-count // each)), str(each)],
            check=True, capture_output=True, text=True)
        return made.stdout.split()

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)
        self.data.cleanup()


def bench(*arguments) -> dict:
    done = subprocess.run([PROGRAMS / "stagedoor-bench", *map(str, arguments)], capture_output=True, text=True)
    if not done.stdout.strip():
        sys.exit(f"stagedoor-bench {' '.join(map(str, arguments))}: {done.stderr}")
    return json.loads(done.stdout.splitlines()[-1])
