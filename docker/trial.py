"""Starts an image in a root file system as an engine would, publishes to it, and ends it: the second half of image-by-chroot.

Real: the image's own entry point as its own user, process 1 of a process namespace, in a network namespace, on a read-only root
with no capabilities and no way to gain any. Emulated: the engine's bridge and port mappings (clients enter the namespace).
"""
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from dataclasses import asdict

from dockerfile import Stage

ADMIN = "http://127.0.0.1:8088"
FFMPEG = ["ffmpeg", "-hide_banner", "-loglevel", "error", "-re", "-f", "lavfi", "-i", "testsrc2=s=1280x720:r=30", "-f", "lavfi",
          "-i", "sine=frequency=440:sample_rate=48000", "-t", "6", "-c:v", "libx264", "-preset", "ultrafast", "-profile:v",
          "baseline", "-pix_fmt", "yuv420p", "-g", "60", "-b:v", "2M", "-c:a", "aac", "-b:a", "128k", "-f", "flv"]


def say(text: str):
    print(f"image: {text}", flush=True)


def attempt(merged: pathlib.Path, stage: Stage, work: pathlib.Path):
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    subprocess.run(["unshare", "--net", sys.executable, __file__, merged, work, json.dumps(asdict(stage))], check=True)


class Container:
    """The image's process, with what an engine sets up around it."""

    def __init__(self, merged: str, work: pathlib.Path, stage: dict, command: list[str]):
        user = next(line.split(":") for line in open(f"{merged}/etc/passwd") if line.startswith(stage["user"] + ":"))
        self.log, self.merged, self.owner = open(work / "log", "w+b"), merged, (int(user[2]), int(user[3]))
        mounts = ["set -e", "mount --make-rprivate /", f'mount --bind "{merged}" "{merged}"', f'cd "{merged}"']
        for volume in stage["volumes"]:
            kept = work / "volumes" / volume.strip("/").replace("/", "-")
            kept.mkdir(parents=True, exist_ok=True)
            os.chown(kept, *self.owner)
            mounts.append(f'mount --bind "{kept}" ".{volume}"')
        mounts += ["mount -t proc proc proc", "mount --rbind /dev dev", "mount -t tmpfs -o mode=1777 tmpfs tmp",
                   "mount -o remount,bind,ro .", 'exec "$@"']
        line = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "bash", "-c", "\n".join(mounts), "container",
                "chroot", ".", "setpriv", f"--reuid={user[2]}", f"--regid={user[3]}", "--clear-groups", "--no-new-privs",
                "--bounding-set=-all", "--inh-caps=-all", "env", "-i", "-C", stage["directory"],
                *(f"{name}={value}" for name, value in stage["environment"].items()), *stage["entrypoint"], *command]
        self.started = time.monotonic()
        self.process = subprocess.Popen(line, stdout=self.log, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)

    @property
    def output(self) -> str:
        self.log.seek(0)
        return self.log.read().decode(errors="replace")

    @property
    def first_process(self) -> int:
        return int(open(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read().split()[0])

    def wait_until_ready(self) -> float:
        """Seconds from the start until /readyz says yes."""
        while time.monotonic() - self.started < 30:
            if self.process.poll() is not None:
                sys.exit(f"image: the server ended at once:\n{self.output}")
            try:
                if urllib.request.urlopen(ADMIN + "/readyz", timeout=2).status == 200:
                    return time.monotonic() - self.started
            except (urllib.error.URLError, OSError):
                time.sleep(0.005)
        sys.exit(f"image: not ready after 30 s:\n{self.output}")

    def inside(self, words: list[str]) -> subprocess.CompletedProcess:
        """A command in the container, as its user: what `docker exec` does."""
        enter = ["nsenter", "-t", str(self.first_process), "-m", "-p", "-r", "-w", "setpriv", f"--reuid={self.owner[0]}",
                 f"--regid={self.owner[1]}", "--clear-groups"]
        return subprocess.run(enter + words, capture_output=True, text=True, timeout=30)

    def stop(self, stop_signal: str):
        os.kill(self.first_process, getattr(signal, stop_signal))
        status = self.process.wait(timeout=60)
        require(status == 0, f"ended by {stop_signal} with status {status}:\n{self.output}")


def require(holds: bool, otherwise: str):
    if not holds:
        sys.exit(f"image: {otherwise}")


def counter(name: str) -> float:
    text = urllib.request.urlopen(ADMIN + "/metrics", timeout=5).read().decode()
    return sum(float(value) for value in re.findall(rf"(?m)^{name}(?:{{[^}}]*}})? (\S+)$", text))


def default_start(merged: str, work: pathlib.Path, stage: dict):
    container = Container(merged, work, stage, stage["command"])
    ready = container.wait_until_ready()
    say(f"ready {ready:.2f} s after its start (aim 0.5)")
    health = container.inside(stage["health"])
    require(health.returncode == 0, f"HEALTHCHECK failed: {health.stderr}")
    status = open(f"/proc/{container.first_process}/status").read()
    for name, wanted in (("Uid", str(container.owner[0])), ("CapEff", "0" * 16), ("NoNewPrivs", "1")):
        found = re.search(rf"(?m)^{name}:\s+(\S+)", status)[1]
        require(found == wanted, f"{name} is {found}, not {wanted}")
    require(container.inside(["touch", "/opt/written"]).returncode != 0, "its root could be written to")
    container.stop(stage["stop_signal"])
    say("HEALTHCHECK, user, capabilities, read-only root and STOPSIGNAL hold")


def publish(merged: str, work: pathlib.Path, stage: dict):
    container = Container(merged, work, stage, ["serve", "--quickstart", "--data", stage["volumes"][0]])
    container.wait_until_ready()
    folder = work / "volumes" / stage["volumes"][0].strip("/").replace("/", "-")
    quickstart = json.loads((folder / "quickstart.json").read_text())
    done = subprocess.run(FFMPEG + [f"{quickstart['rtmpURL']}/{quickstart['streamKey']}"], capture_output=True, text=True, timeout=60)
    require(done.returncode == 0, f"ffmpeg could not publish: {done.stderr}\n{container.output}")
    packets = counter("stagedoor_forward_packets_total")
    require(packets > 800, f"only {packets:.0f} RTP packets left for the router")
    say(f"ffmpeg published 6 s by RTMP: {packets:.0f} RTP packets left for the router")
    container.stop(stage["stop_signal"])


if __name__ == "__main__":
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    root, place, described = sys.argv[1], pathlib.Path(sys.argv[2]), json.loads(sys.argv[3])
    default_start(root, place, described)
    publish(root, place, described)
