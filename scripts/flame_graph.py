"""Samples of perf as a picture: stacks folded and demangled, frames as wide as their share, callers below."""
import collections
import dataclasses
import html
import re
import subprocess
import zlib

# What is narrower is left out, and with it what it calls.
MINIMUM_SHARE = 0.003
WIDTH, FRAME_HEIGHT, HEAD, FONT = 1_200, 17, 44, 11
CHARACTER = 6.6
# Hues, in degrees, by where the code is from.
KERNEL, OURS, SWIFT, LIBRARY = (0, 20), (200, 220), (165, 180), (85, 120)
LEGEND = [("ours", OURS), ("Swift's runtime", SWIFT), ("C libraries", LIBRARY), ("kernel", KERNEL)]
FRAME = re.compile(r"^\s+[0-9a-f]+ (.*) \((.*)\)$")
# Of a demangled name what tells functions apart; the rest makes it long.
CLUTTER = re.compile(
    r"^(?:(?:generic |function signature )*speciali(?:zed|zation <.*?> of) |merged |partial apply for |protocol witness for |@objc |static )+")

Frame = collections.namedtuple("Frame", "name origin")


def folded(script: str) -> collections.Counter:
    """Samples by stack, from the kind of thread to the innermost function."""
    stacks: collections.Counter = collections.Counter()
    for sample in script.split("\n\n"):
        head, *rest = sample.strip("\n").split("\n")
        if not rest:
            continue
        thread = re.sub(r"-\d+$", "", head.strip().removesuffix(":"))
        frames = [frame(*FRAME.match(line).groups()) for line in reversed(rest) if FRAME.match(line)]
        stacks[(Frame(thread or "thread", "thread"), *frames)] += 1
    names = demangled({each.name for stack in stacks for each in stack if each.name.startswith("$s")})
    readable: collections.Counter = collections.Counter()
    for stack, count in stacks.items():
        readable[tuple(Frame(names.get(each.name, each.name), each.origin) for each in stack)] += count
    return readable


def frame(symbol: str, file: str) -> Frame:
    library = file.rsplit("/", 1)[-1].split(".so")[0].strip("[]")
    if symbol == "[unknown]":
        symbol = library
    if file.startswith(("[kernel", "[guest")):
        return Frame(symbol, "kernel")
    if symbol.startswith(("swift_", "_swift")) or library.startswith("libswift"):
        return Frame(symbol, "swift")
    return Frame(symbol, "ours" if symbol.startswith("$s") or library.startswith("stagedoor") else "library")


def demangled(names: set[str]) -> dict[str, str]:
    ordered = sorted(names)
    if not ordered:
        return {}
    done = subprocess.run(
        ["swift", "demangle", "--compact", "--simplified"], input="\n".join(ordered), capture_output=True, text=True, check=True)
    return {name: CLUTTER.sub("", text) for name, text in zip(ordered, done.stdout.splitlines())}


@dataclasses.dataclass
class Node:
    frame: Frame
    count: int = 0
    callees: dict = dataclasses.field(default_factory=dict)

    def add(self, stack: tuple, count: int):
        self.count += count
        if stack:
            self.callees.setdefault(stack[0], Node(stack[0])).add(stack[1:], count)

    def depth(self, least: float) -> int:
        return 1 + max((node.depth(least) for node in self.callees.values() if node.count >= least), default=0)


def draw(title: str, stacks: collections.Counter) -> str:
    root = Node(Frame("all threads", "thread"))
    for stack, count in stacks.items():
        root.add(stack, count)
    least = root.count * MINIMUM_SHARE
    height = HEAD + root.depth(least) * FRAME_HEIGHT + 8
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="monospace" font-size="{FONT}">',
        f'<rect width="{WIDTH}" height="{height}" fill="#fff"/>',
        f'<text x="8" y="18" font-size="15">{html.escape(title)}</text>', *legend()]
    place(root, root.count, 0.0, height - 8 - FRAME_HEIGHT, least, parts)
    return "\n".join([*parts, "</svg>", ""])


def legend():
    left = 8
    for name, hues in LEGEND:
        yield f'<rect x="{left}" y="26" width="10" height="10" fill="hsl({hues[0]},70%,75%)"/>'
        yield f'<text x="{left + 14}" y="35">{name}</text>'
        left += 26 + len(name) * CHARACTER


def place(node: Node, total: int, left: float, top: int, least: float, parts: list[str]):
    """The frame, and above it what it calls, the widest first."""
    width = node.count / total * WIDTH
    share = f"{node.count / total * 100:.1f} %"
    name = node.frame.name
    parts.append(
        f'<g><title>{html.escape(name, quote=False)}: {share}</title>'
        f'<rect x="{left:.1f}" y="{top}" width="{max(width - 0.5, 0.5):.1f}" height="{FRAME_HEIGHT - 1}" fill="{colour(node.frame)}"/>'
        f'{label(name, share, left, top, width)}</g>')
    for callee in sorted(node.callees.values(), key=lambda each: -each.count):
        if callee.count >= least:
            place(callee, total, left, top - FRAME_HEIGHT, least, parts)
        left += callee.count / total * WIDTH


def label(name: str, share: str, left: float, top: int, width: float) -> str:
    room, short = int((width - 6) / CHARACTER), name.split("(")[0]
    if room < 3:
        return ""
    text = next((each for each in (f"{name} {share}", f"{short} {share}", short) if len(each) <= room), short[:room - 1] + "…")
    return f'<text x="{left + 3:.1f}" y="{top + 12}">{html.escape(text, quote=False)}</text>'


def colour(frame: Frame) -> str:
    """A name has the same colour in every picture."""
    if frame.origin == "thread":
        return "#ddd"
    low, high = {"kernel": KERNEL, "ours": OURS, "swift": SWIFT, "library": LIBRARY}[frame.origin]
    number = zlib.crc32(frame.name.encode())
    return f"hsl({low + number % (high - low + 1)},{60 + number // 100 % 20}%,{70 + number // 10_000 % 12}%)"
