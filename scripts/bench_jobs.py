"""The jobs of scripts/bench: each measures with a gateway of its own and adds rows to the table. Goals are per docs/performance.md."""
import socket
import tempfile
import time
import urllib.parse

import bench_streams
from bench_load import AAC, CPU, Receiver, full, lines, lower_layers, passed, rtmp, whip
from bench_many import growth, hold, workers
from bench_mixture import mixture
from bench_peers import Nginx
from bench_recording import recording
from bench_relay import BareRelay
from bench_viewers import ROUTER, viewer
from gateway_run import Gateway, bench, clip, free_port
from process_figures import resident

STREAMS, LAYERED_STREAMS = bench_streams.STREAMS, 30
# Latencies and memory are of streams whose keyframes do not coincide, as strangers' do not: the clips have one every 2 s.
APART = ["--apart", "2"]
MARKED = ["--marks", *APART]


def steps(table, seconds, rounds, peers):
    """What single steps cost on this machine, for set-ups to stand beside and to tell machines apart."""
    table.floor = bench("floor")
    table.row("one wake-up of a waiting thread", table.floor["wakeUpMicroseconds"], "µs CPU")
    table.row("one P-384 verification", table.floor["tokenVerification"], "ms CPU")
    table.row("the server's half of a DTLS handshake", table.floor["dtlsHandshake"], "ms CPU")


def idle(table, seconds, rounds, peers):
    """As it comes, and with an embedded router and recordings."""
    with tempfile.TemporaryDirectory() as folder:
        for name, settings, routers in [("idle", "", ""), ("idle, embedded router and recording on", f"recording: {{directory: {folder}}}", ROUTER)]:
            gateway = Gateway(settings, more_routers=routers)
            try:
                time.sleep(2)
                runs = [bench("receive", "--ports", free_port(), "--seconds", 5, "--pid", gateway.process.pid) for _ in range(rounds)]
            finally:
                gateway.close()
            table.row(name, min(run["process"]["cpuMillisecondsPerSecond"] for run in runs), "ms CPU a second", 0.3, 0)


def layers(table, seconds, rounds, peers):
    """Three layers of a stream, each sent on, and one, in turns: what the lower ones' packets cost more, and what a layer takes."""
    for protocol in "WHIP", "RTMP":
        gateway, one, three = Gateway(layers="all"), [], []
        try:
            credentials = credentials_for(gateway, protocol)
            for _ in range(rounds):
                one.append(layered(gateway, protocol, credentials, seconds))
                three.append(layered(gateway, protocol, credentials, seconds, *lower_layers()))
        finally:
            gateway.close()
        alone, together = (min(run.cost_per_megabit for run in runs) for runs in (one, three))
        table.row(f"{protocol}, three layers, {LAYERED_STREAMS} streams", together / alone, "× one layer's CPU a megabit", 1.1,
                  note=f"{together:.2f} and {alone:.2f} ms")
        more = memory_of_stream(protocol, *lower_layers()) - memory_of_stream(protocol)
        table.row(f"memory of a further layer, {protocol}", more / 2, "kB", 60)


def credentials_for(gateway, protocol) -> list[str]:
    return (gateway.keys if protocol == "RTMP" else gateway.tokens)(LAYERED_STREAMS)


def layered(gateway, protocol, credentials, seconds, *options):
    quick, pid, ports = gateway.quickstart, gateway.process.pid, gateway.router_ports
    if protocol == "RTMP":
        return rtmp(quick["rtmpURL"], credentials, passed(), seconds, pid, ports, *options)
    return whip(quick["whipURL"], credentials, seconds, pid, ports, *options)


def memory_of_stream(protocol, *options) -> float:
    """kB, at a gateway of its own: what streams have given back would hide what others take."""
    gateway = Gateway(layers="all")
    try:
        credentials, before = credentials_for(gateway, protocol), resident(gateway.process.pid)
        run = layered(gateway, protocol, credentials, 6, *options)
        return (run.sent["process"]["after"]["rssKilobytes"] - before) / LAYERED_STREAMS
    finally:
        gateway.close()


LATENCIES = [
    ("WHIP", "first packet", "first", (0.15, 0.4)), ("RTMP", "first packet", "first", (0.3, 0.4)),
    ("RTMP", "last packet, IDRs of 100 packets among them", "last", (None, 8)),
]


def latency(table, seconds, rounds, peers):
    """With as many streams as costs are measured with, where workers rest, and where `workers.rest` forbids it; in turns with the bare
    relay, whose latency is that of the machine: sender, server and receiver share its cores."""
    for settings, name in ("", ""), ("workers: {rest: 0s}", ", workers that never rest"):
        turns = marked(settings, seconds, rounds)
        for protocol, job, which, goals in LATENCIES:
            ours, relay = (quietest(turns.runs[protocol, server], which) for server in ("ours", "relay"))
            for percentile, goal in zip(("p50", "p99"), goals):
                table.row(f"added latency, {protocol}, {job}{name}, {percentile}", ours[percentile], "ms", goal, relay[percentile])


def marked(settings, seconds, rounds) -> bench_streams.Turns:
    """Streams that carry the time, by protocol."""
    gateway, turns = Gateway(settings), bench_streams.Turns()
    try:
        keys, tokens, pid, ports = gateway.keys(STREAMS), gateway.tokens(STREAMS), gateway.process.pid, gateway.router_ports
        for _ in range(rounds):
            turns.add("RTMP", "ours", rtmp(gateway.quickstart["rtmpURL"], keys, passed(), seconds, pid, ports, *MARKED))
            with BareRelay("rtmp", STREAMS, ports) as relay:
                turns.add("RTMP", "relay", relay.rtmp(passed(), seconds, True, *MARKED))
            turns.add("WHIP", "ours", whip(gateway.quickstart["whipURL"], tokens, seconds, pid, ports, *MARKED))
            with BareRelay("srtp", STREAMS, ports) as relay:
                turns.add("WHIP", "relay", relay.whip(seconds, True, *MARKED))
    finally:
        gateway.close()
    return turns


def quietest(runs: list, which: str) -> dict:
    return min((run.received[f"{which}PacketMilliseconds"] for run in runs), key=lambda figures: figures["p99"])


def set_up(table, seconds, rounds, peers):
    gateway, other = Gateway(), Nginx() if peers else None
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
        # The goal is what the peer takes in the same run.
        theirs_best = peer_best and peer_best["cpuMillisecondsPerAttempt"]
        table.row("RTMP set-up", best["cpuMillisecondsPerAttempt"], "ms CPU", theirs_best, peer=theirs_best)
        whip_set_up(table, gateway, rounds)
        first_packet(table, gateway, rounds)
        token_rates(table, rounds)
    finally:
        gateway.close()
        if other:
            other.close()


def whip_set_up(table, gateway, rounds):
    new, known = [], []
    for _ in range(rounds):
        tokens = gateway.tokens(40)
        for runs in (new, known):
            runs.append(whip(gateway.quickstart["whipURL"], tokens, 0.1, gateway.process.pid, gateway.router_ports).sent)
    floor = table.floor.get("dtlsHandshake")
    table.row("WHIP POST to DTLS done, p50", min(run["connectMilliseconds"]["p50"] for run in known), "ms", 3)
    table.row("WHIP set-up, known token", min(run["cpuMillisecondsPerSetUp"] for run in known), "ms CPU", 1.1, floor)
    table.row("WHIP set-up, new token", min(run["cpuMillisecondsPerSetUp"] for run in new), "ms CPU", 1.6,
              floor and floor + table.floor["tokenVerification"])


def first_packet(table, gateway, rounds):
    """One publisher after the other sends one keyframe; how long after its POST the router has the first packet of it."""
    runs = []
    for _ in range(rounds):
        with Receiver(gateway.router_ports, 0, waits=True) as receiver, lines(gateway.tokens(40)) as file:
            bench("whip", gateway.quickstart["whipURL"], "--tokens", file.name, "--flv", full(), "--opening")
            runs.append(receiver.report()["firstPacketMilliseconds"])
    table.row("WHIP POST to first RTP out, p50", min(run["p50"] for run in runs), "ms", 5)


def token_rates(table, rounds):
    best = max((bench("tokens") for _ in range(rounds)), key=lambda run: run["ratio"])
    table.row("a new participant token verified", best["verifierMicroseconds"], "µs CPU", floor=best["bareMicroseconds"],
              note=f"rate {best['ratio']:.2f} of bare P-384; known {best['cachedMicroseconds']:.1f} µs")


def memory(table, seconds, rounds, peers):
    for name, flv, target, options in [
        ("RTMP, Opus passed", passed(), 65, APART), ("RTMP, Opus passed, keyframes within 33 ms", passed(), None, []),
        ("RTMP, AAC 48 kHz to Opus", full(), 818, APART),
        ("RTMP, AAC 44.1 kHz to Opus", clip("aac44", [*AAC, "-ar", "44100"]), 1_100, APART),
    ]:
        gateway = Gateway()
        try:
            run = rtmp(gateway.quickstart["rtmpURL"], gateway.keys(STREAMS), flv, 6, gateway.process.pid, gateway.router_ports, *options)
            table.row(f"memory of a stream, {name}", run.memory_per_stream, "kB", target)
        finally:
            gateway.close()
    gateway = Gateway()
    try:
        tokens, before = gateway.tokens(STREAMS), resident(gateway.process.pid)
        run = whip(gateway.quickstart["whipURL"], tokens, 5, gateway.process.pid, gateway.router_ports, *APART)
        grown = (run.sent["process"]["after"]["rssKilobytes"] - before) / STREAMS
        table.row("memory of a stream, WHIP", grown, "kB", 116)
    finally:
        gateway.close()
    # A gateway of their own: what streams have given back must not hide what these take.
    gateway = Gateway()
    try:
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


def resets(table, gateway, count=10_000, concurrency=4):
    """After a thousand more, which fill every pool once."""
    keys, url, pid = gateway.keys(10)[:concurrency], gateway.quickstart["rtmpURL"], gateway.process.pid
    options = [*(word for key in keys for word in ("--key", key)), "--concurrency", concurrency, "--ending", "rst"]
    bench("connect", url, "--count", 1_000, *options)
    before = resident(pid)
    bench("connect", url, "--count", count, *options, seconds=count / 50)
    time.sleep(1)
    table.row("memory after 10,000 publishes ended by RST", (resident(pid) - before) / 1_024, "MB more", 5)


JOBS = {
    "steps": steps, "idle": idle, "rtmp": bench_streams.rtmp_costs, "whip": bench_streams.whip_costs, "waiting": bench_streams.waiting,
    "layers": layers, "latency": latency, "setup": set_up, "memory": memory, "growth": growth,
    "workers": workers, "hold": hold, "recording": recording, "viewer": viewer, "mixture": mixture,
}
