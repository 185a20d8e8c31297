"""The jobs of scripts/bench: each measures with a gateway of its own and adds rows to the table. Targets are per docs/performance.md."""
import json
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.parse

from gateway_run import PROGRAMS, ROUTER_PORTS, Gateway, bench, clip

AAC = ["-c:a", "aac", "-b:a", "128k", "-ac", "2"]
STREAMS = 50
CPU = "ms CPU a stream-second"


def full():
    return clip("aac", AAC)


def measure_floor() -> dict:
    return bench("floor", "--flv", full())


def receiving(seconds: float) -> subprocess.Popen:
    receiver = subprocess.Popen(
        [PROGRAMS / "stagedoor-bench", "receive", "--ports", f"{ROUTER_PORTS[0]}-{ROUTER_PORTS[1]}", "--seconds",
         str(seconds + 60), "--idle", "1.5"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if (line := receiver.stderr.readline()) != "receiving\n":
        sys.exit(f"the receiver: {line}{receiver.stderr.read()}")
    return receiver


def received(receiver: subprocess.Popen) -> dict:
    try:
        return json.loads(receiver.communicate(timeout=20)[0].splitlines()[-1])
    except subprocess.TimeoutExpired:
        receiver.send_signal(signal.SIGINT)
        return json.loads(receiver.communicate()[0].splitlines()[-1])


def lines(values: list[str]):
    file = tempfile.NamedTemporaryFile("w")
    file.write("\n".join(values))
    file.flush()
    return file


def rtmp(url, keys, flv, seconds, pid, *options) -> tuple[dict, dict]:
    receiver = receiving(seconds)
    with lines(keys) as file:
        sent = bench("rtmp", url, "--keys", file.name, "--flv", flv, "--seconds", seconds, "--pid", pid, *options)
    return accepted(url, sent), received(receiver)


def accepted(url: str, sent: dict) -> dict:
    if "process" not in sent:
        sys.exit(f"{url}: no stream was accepted, {sent['refused']} refused, {sent.get('failures', '')}")
    return sent


def whip(gateway, tokens, seconds, *options) -> tuple[dict, dict]:
    receiver = receiving(seconds)
    with lines(tokens) as file:
        sent = bench("whip", gateway.quickstart["whipURL"], "--tokens", file.name, "--flv", full(), "--seconds", seconds, "--pid",
                     gateway.process.pid, *options)
    return accepted(gateway.quickstart["whipURL"], sent), received(receiver)


def cost(run) -> float:
    return run[0]["process"]["cpuMillisecondsPerStreamSecond"]


def losses(run) -> str:
    sent, got = run
    inside = max(0, got["lost"] - got["droppedByKernel"])
    return f"lost {inside} of {got['received']}" + (f", {sent['refused']} refused" if sent["refused"] else "")


def growth_per_stream(run) -> float:
    process = run[0]["process"]
    return (process["after"]["rssKilobytes"] - process["before"]["rssKilobytes"]) / max(1, run[0]["streams"])


def resident(pid: int) -> int:
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def idle(table, seconds, rounds, peer):
    gateway = Gateway()
    try:
        time.sleep(2)
        runs = [bench("receive", "--ports", "27998", "--seconds", 5, "--pid", gateway.process.pid) for _ in range(rounds)]
        table.row("idle", min(run["process"]["cpuMillisecondsPerSecond"] for run in runs), "ms CPU a second", 0.3, 0)
    finally:
        gateway.close()


def rtmp_costs(table, seconds, rounds, peer):
    """Interleaved: each round runs every job once."""
    gateway, other = Gateway(), peer() if peer else None
    runs: dict[str, list] = {}
    try:
        keys, pid, quick = gateway.keys(STREAMS), gateway.process.pid, gateway.quickstart
        jobs = {
            "video": (quick["rtmpURL"], keys, clip("silent", ["-an"]), pid), "aac": (quick["rtmpURL"], keys, full(), pid),
            "tls": (quick["rtmpsURL"], keys, clip("silent", ["-an"]), pid),
        }
        if other:
            names = [f"s{number}" for number in range(STREAMS)]
            jobs |= {"peer": (other.url, names, full(), other.pid), "peer, video": (other.url, names, clip("silent", ["-an"]), other.pid)}
        for _ in range(rounds):
            for name, (url, names, flv, process) in jobs.items():
                runs.setdefault(name, []).append(rtmp(url, names, flv, seconds, process))
    finally:
        gateway.close()
        if other:
            other.close()
    best = {name: min(every, key=cost) for name, every in runs.items()}
    floor, video = table.floor, cost(best["video"])
    peer_cost = {name: cost(best[name]) for name in best if name.startswith("peer")}
    table.row(f"RTMP to RTP, audio off, {STREAMS} streams", video, CPU, 0.9, floor["rtmp"], peer_cost.get("peer, video"), losses(best["video"]))
    target = min(3.2, 1.25 * floor["rtmpTranscoded"])
    table.row(f"RTMP to RTP, AAC to Opus, {STREAMS} streams", cost(best["aac"]), CPU, target, floor["rtmpTranscoded"],
              peer_cost.get("peer"), losses(best["aac"]))
    table.row("RTMPS on top of RTMP", cost(best["tls"]) - video, CPU, 0.4, note=losses(best["tls"]))


def whip_costs(table, seconds, rounds, peer):
    gateway = Gateway()
    variants = {
        ("GCM, bursts", 1.0): [], ("GCM, paced", 2.0): ["--paced"], ("AES-CM, bursts", 1.2): ["--aes-cm"],
        ("AES-CM, paced", 2.2): ["--aes-cm", "--paced"],
    }
    runs: dict = {variant: [] for variant in variants}
    try:
        tokens = gateway.tokens(STREAMS)
        for _ in range(rounds):
            for variant, options in variants.items():
                runs[variant].append(whip(gateway, tokens, seconds, *options))
    finally:
        gateway.close()
    for (name, target), every in runs.items():
        best = min(every, key=cost)
        table.row(f"WHIP to RTP, {name}, {STREAMS} streams", cost(best), CPU, target, table.floor["whip"][name], note=losses(best))


def latency(table, seconds, rounds, peer):
    gateway = Gateway()
    try:
        keys, tokens, pid = gateway.keys(25), gateway.tokens(25), gateway.process.pid
        silent = clip("silent", ["-an"])
        over_rtmp = [rtmp(gateway.quickstart["rtmpURL"], keys[:25], silent, seconds, pid, "--marks")[1] for _ in range(rounds)]
        over_whip = [whip(gateway, tokens, seconds, "--marks")[1] for _ in range(rounds)]
    finally:
        gateway.close()
    for name, every, which, targets in [
            ("WHIP, first packet", over_whip, "first", (0.15, 0.4)), ("RTMP, first packet", over_rtmp, "first", (0.3, 1.5)),
            ("RTMP, last packet, IDRs of 100 packets among them", over_rtmp, "last", (None, 8))]:
        best = min((run[f"{which}PacketMilliseconds"] for run in every), key=lambda figures: figures["p99"])
        table.row(f"added latency, {name}, p50", best["p50"], "ms", targets[0])
        table.row(f"added latency, {name}, p99", best["p99"], "ms", targets[1])


def set_up(table, seconds, rounds, peer):
    gateway, other = Gateway(), peer() if peer else None
    try:
        key, url, pid = gateway.keys(10)[0], gateway.quickstart["rtmpURL"], gateway.process.pid
        ours, theirs = [], []
        for _ in range(rounds):
            ours.append(bench("connect", url, "--key", key, "--count", 1_000, "--pid", pid))
            if other:
                theirs.append(bench("connect", other.url, "--key", "s{}", "--count", 100, "--pid", other.pid))
        best = min(ours, key=lambda run: run["cpuMillisecondsPerAttempt"])
        peer_best = min(theirs, key=lambda run: run["cpuMillisecondsPerAttempt"], default=None)
        table.row("RTMP connect to publish accepted, p50", best["milliseconds"]["p50"], "ms", 2,
                  peer=peer_best and peer_best["milliseconds"]["p50"])
        table.row("RTMP set-up", best["cpuMillisecondsPerAttempt"], "ms CPU", 0.12, peer=peer_best and peer_best["cpuMillisecondsPerAttempt"])
        whip_set_up(table, gateway, rounds)
        token_rates(table, rounds)
    finally:
        gateway.close()
        if other:
            other.close()


def whip_set_up(table, gateway, rounds):
    new, known = [], []
    for _ in range(rounds):
        tokens = gateway.tokens(40)
        new.append(whip(gateway, tokens, 0.1)[0])
        known.append(whip(gateway, tokens, 0.1)[0])
    floor = table.floor["dtlsHandshake"]
    table.row("WHIP POST to DTLS done, p50", min(run["connectMilliseconds"]["p50"] for run in known), "ms", 3)
    table.row("WHIP set-up, known token", min(run["cpuMillisecondsPerSetUp"] for run in known), "ms CPU", 1.1, floor)
    table.row("WHIP set-up, new token", min(run["cpuMillisecondsPerSetUp"] for run in new), "ms CPU", 1.6,
              floor + table.floor["tokenVerification"])


def token_rates(table, rounds):
    best = max((bench("tokens") for _ in range(rounds)), key=lambda run: run["ratio"])
    table.row("a new participant token verified", best["verifierMicroseconds"], "µs CPU", floor=best["bareMicroseconds"],
              note=f"rate {best['ratio']:.2f} of bare P-384; known {best['cachedMicroseconds']:.1f} µs")


def memory(table, seconds, rounds, peer):
    for name, audio, target in [("RTMP, audio off", ["-an"], 150), ("RTMP, AAC 48 kHz to Opus", AAC, 900),
                                ("RTMP, AAC 44.1 kHz to Opus", [*AAC, "-ar", "44100"], 1_100)]:
        gateway = Gateway()
        try:
            flv = clip({150: "silent", 900: "aac", 1_100: "aac44"}[target], audio)
            run = rtmp(gateway.quickstart["rtmpURL"], gateway.keys(STREAMS), flv, 6, gateway.process.pid)
            table.row(f"memory of a stream, {name}", growth_per_stream(run), "kB", target)
        finally:
            gateway.close()
    gateway = Gateway()
    try:
        tokens, before = gateway.tokens(STREAMS), resident(gateway.process.pid)
        run = whip(gateway, tokens, 5)
        grown = (run[0]["process"]["after"]["rssKilobytes"] - before) / STREAMS
        table.row("memory of a stream, WHIP", grown, "kB", 120)
        idle_connections(table, gateway)
        resets(table, gateway)
    finally:
        gateway.close()


def idle_connections(table, gateway, count=900):
    parts = urllib.parse.urlsplit(gateway.quickstart["rtmpURL"])
    before = resident(gateway.process.pid)
    connections = [socket.create_connection((parts.hostname, parts.port)) for _ in range(count)]
    time.sleep(0.5)
    table.row("memory of an idle TCP connection", (resident(gateway.process.pid) - before) / count, "kB", 8)
    for connection in connections:
        connection.close()


def resets(table, gateway, count=10_000):
    key, url, pid = gateway.keys(10)[0], gateway.quickstart["rtmpURL"], gateway.process.pid
    bench("connect", url, "--key", key, "--count", 1_000, "--ending", "rst")
    before = resident(pid)
    bench("connect", url, "--key", key, "--count", count, "--ending", "rst")
    time.sleep(1)
    table.row("memory after 10,000 publishes ended by RST", (resident(pid) - before) / 1_024, "MB more", 5)


def growth(table, seconds, rounds, peer):
    """How the cost of a stream changes with their number, at 600 kbit/s."""
    small = clip("small", ["-an"], bitrate="600k")
    for count, target in [(1, None), (10, None), (50, None), (250, None), (500, None)]:
        gateway = Gateway()
        try:
            run = rtmp(gateway.quickstart["rtmpURL"], gateway.keys(count)[:count], small, seconds, gateway.process.pid)
            table.row(f"RTMP to RTP, 600 kbit/s, audio off, {count} streams", cost(run), CPU, target, note=losses(run))
        finally:
            gateway.close()


JOBS = {"idle": idle, "rtmp": rtmp_costs, "whip": whip_costs, "latency": latency, "setup": set_up, "memory": memory, "growth": growth}
