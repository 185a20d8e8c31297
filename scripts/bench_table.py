"""The table of scripts/bench: printed as it grows, and written into docs/performance.md between two marks."""
import dataclasses
import datetime
import math
import pathlib
import platform
import statistics
import subprocess

from gateway_run import ROOT

DOCUMENT = ROOT / "docs/performance.md"
BEGIN, END = "<!-- figures: scripts/bench --write -->", "<!-- end of figures -->"
# Student's t, two-sided, 95 %, by degrees of freedom (beyond: the normal distribution's).
T = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 6: 2.45, 7: 2.36, 8: 2.31, 9: 2.26}
HEAD = ("job", "ours", "goal", "floor", "peer", "× floor", "× peer", "")


@dataclasses.dataclass
class Multiple:
    """How many times what another server took in the same round: the rounds' mean, and half its 95 % interval."""
    mean: float
    half: float | None

    @classmethod
    def of(cls, ratios: list[float]) -> "Multiple | None":
        if not ratios:
            return None
        count = len(ratios)
        half = T.get(count - 1, 1.96) * statistics.stdev(ratios) / math.sqrt(count) if count > 1 else None
        return cls(statistics.mean(ratios), half)

    def __str__(self) -> str:
        return f"{self.mean:.2f}" if self.half is None else f"{self.mean:.2f} ± {self.half:.2f}"


class Table:
    """- scale: which part of what is held at once is tried first."""

    def __init__(self, scale: float):
        self.scale = scale
        self.rows: list[tuple[str, ...]] = []
        self.floor: dict = {}
        self.failures = 0
        self.print(HEAD)

    @staticmethod
    def print(cells: tuple[str, ...]):
        print(f"{cells[0]:<78} {cells[1]:>8} {cells[2]:>9} {cells[3]:>7} {cells[4]:>7} {cells[5]:>12} {cells[6]:>12}  {cells[7]}", flush=True)

    def row(self, job: str, ours: float, unit: str, goal: float | None = None, floor: float | None = None, peer: float | None = None,
            note: str = "", of_floor: Multiple | None = None, of_peer: Multiple | None = None):
        """The goal is a multiple of the floor where there is one of the same rounds, and a figure otherwise."""
        reached = of_floor.mean if of_floor else ours
        verdict = "" if goal is None else distance(reached, goal)
        goal_text = "" if goal is None else f"{goal:.2f} ×" if of_floor else text(goal)
        cells = (f"{job}, {unit}", text(ours), goal_text, text(floor), text(peer), str(of_floor or ""), str(of_peer or ""),
                 ", ".join(filter(None, [verdict, note])))
        self.rows.append(cells)
        self.print(cells)

    def failed(self, job: str, error: Exception):
        self.failures += 1
        words = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        self.rows.append((job, "", "", "", "", "", "", f"not measured: {words}"))
        print(f"{job}: not measured: {words}", flush=True)

    def close(self):
        missed, goals = sum(" over" in row[7] for row in self.rows), sum(bool(row[2]) for row in self.rows)
        print(f"{missed} of {goals} goals missed", flush=True)

    def write(self):
        commit = subprocess.run(["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, cwd=ROOT).stdout.strip()
        lines = [
            BEGIN, "", f"{datetime.date.today()}, {commit or 'no commit'}, {processor()}, Linux {platform.release()}. The floor of a"
            " stream is the bare relay. The peer of RTMP is nginx-rtmp, which only takes the streams; that of WHIP is Janus with a room"
            " and a forwarder for each.", "",
            "| " + " | ".join(HEAD) + " |", "|---|---:|---:|---:|---:|---:|---:|---|",
            *("| " + " | ".join(row) + " |" for row in self.rows), "", END]
        text = DOCUMENT.read_text()
        before, rest = text.split(BEGIN, 1)
        DOCUMENT.write_text(before + "\n".join(lines) + rest.split(END, 1)[1])


def distance(figure: float, goal: float) -> str:
    if figure <= goal:
        return ""
    return f"{(figure / goal - 1) * 100:.0f} % over" if goal else f"{figure:.0f} over"


def text(value: float | None, digits: int = 2) -> str:
    return "" if value is None else f"{value:.{digits}f}" if value < 100 else f"{value:.0f}"


def processor() -> str:
    lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    names = [line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} × {names[0]}" if names else platform.machine()
