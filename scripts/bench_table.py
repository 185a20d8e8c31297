"""The table of scripts/bench: printed as it grows, and written into docs/performance.md between two marks."""
import datetime
import pathlib
import platform
import subprocess

from gateway_run import ROOT

DOCUMENT = ROOT / "docs/performance.md"
BEGIN, END = "<!-- figures: scripts/bench --write -->", "<!-- end of figures -->"


class Table:
    def __init__(self):
        self.rows: list[tuple[str, ...]] = []
        self.floor: dict = {}
        self.failures = 0
        print(f"{'job':<62} {'ours':>9} {'target':>8} {'floor':>7} {'peer':>7}  note", flush=True)

    def row(self, job: str, ours: float, unit: str, target: float | None = None, floor: float | None = None,
            peer: float | None = None, note: str = ""):
        def text(value, digits=2):
            return "" if value is None else f"{value:.{digits}f}" if value < 100 else f"{value:.0f}"
        verdict = "" if target is None else "" if ours <= target else "over"
        cells = (f"{job}, {unit}", text(ours), text(target), text(floor), text(peer), ", ".join(filter(None, [verdict, note])))
        self.rows.append(cells)
        print(f"{cells[0]:<62} {cells[1]:>9} {cells[2]:>8} {cells[3]:>7} {cells[4]:>7}  {cells[5]}", flush=True)

    def failed(self, job: str, error: Exception):
        self.failures += 1
        words = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        self.rows.append((job, "", "", "", "", f"not measured: {words}"))
        print(f"{job}: not measured: {words}", flush=True)

    def close(self):
        print(f"{sum('over' in row[5] for row in self.rows)} of {sum(bool(row[2]) for row in self.rows)} targets missed", flush=True)

    def write(self):
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT).stdout.strip()
        lines = [
            BEGIN, "", f"{datetime.date.today()}, {commit or 'no commit'}, {processor()}, Linux {platform.release()}. The peer of RTMP is nginx-rtmp, which only"
            " takes the streams; that of WHIP is Janus with a room and a forwarder for each.", "",
            "| job | ours | target | floor | peer | |", "|---|---:|---:|---:|---:|---|",
            *("| " + " | ".join(row) + " |" for row in self.rows), "", END]
        text = DOCUMENT.read_text()
        before, rest = text.split(BEGIN, 1)
        DOCUMENT.write_text(before + "\n".join(lines) + rest.split(END, 1)[1])


def processor() -> str:
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} × {names[0]}" if names else platform.machine()
