"""What a stream costs: the gateway, the bare relay and a peer under the same load in turns, and ours as multiples of theirs."""
import collections

from bench_load import CPU, full, passed, rtmp, rtmp_only_taken, whip
from bench_peers import Janus, Nginx
from bench_relay import BareRelay
from bench_table import Multiple
from gateway_run import Gateway

STREAMS = 50
# Goals, as multiples of the bare relay.
RTMP, TRANSCODED, BURSTS, PACED = 1.35, 1.15, 1.4, 1.08
MEDIA = {"Opus passed": (passed, RTMP), "AAC to Opus": (full, TRANSCODED)}
VARIANTS = {
    "GCM, bursts": ([], BURSTS), "GCM, paced": (["--paced"], PACED), "AES-CM, bursts": (["--aes-cm"], BURSTS),
    "AES-CM, paced": (["--aes-cm", "--paced"], PACED),
}


class Turns:
    """Runs by job and server, one of each in every round."""

    def __init__(self):
        self.runs = collections.defaultdict(list)

    def add(self, job: str, server: str, run):
        self.runs[job, server].append(run)

    def best(self, job: str, server: str):
        return min(self.runs[job, server], key=lambda run: run.cost, default=None)

    def multiple(self, job: str, server: str) -> Multiple | None:
        """Of what the server took in the same round."""
        pairs = zip(self.runs[job, "ours"], self.runs[job, server])
        return Multiple.of([ours.cost / theirs.cost for ours, theirs in pairs])

    def row(self, table, title: str, job: str, goal: float):
        ours, relay, peer = (self.best(job, server) for server in ("ours", "relay", "peer"))
        table.row(title, ours.cost, CPU, goal, relay.cost, peer and peer.cost, ours.note, self.multiple(job, "relay"),
                  self.multiple(job, "peer"))


def rtmp_costs(table, seconds, rounds, peers):
    gateway, other, turns = Gateway(), Nginx() if peers else None, Turns()
    try:
        keys, pid, quick, ports = gateway.keys(STREAMS), gateway.process.pid, gateway.quickstart, gateway.router_ports
        names = [f"s{number}" for number in range(STREAMS)]
        for _ in range(rounds):
            for job, (clip, _) in MEDIA.items():
                rtmp_round(turns, job, gateway, keys, clip(), seconds)
                if other:
                    turns.add(job, "peer", rtmp_only_taken(other.url, names, clip(), seconds, other.pid))
            turns.add("TLS", "ours", rtmp(quick["rtmpsURL"], keys, passed(), seconds, pid, ports))
    finally:
        gateway.close()
        if other:
            other.close()
    for job, (_, goal) in MEDIA.items():
        turns.row(table, f"RTMP to RTP, {job}, {STREAMS} streams", job, goal)
    tls = turns.best("TLS", "ours")
    table.row("RTMPS on top of RTMP", tls.cost - turns.best("Opus passed", "ours").cost, CPU, 0.4, note=tls.note)


def rtmp_round(turns: Turns, job: str, gateway: Gateway, keys: list[str], clip, seconds: float, waits: bool = False):
    url, pid, ports = gateway.quickstart["rtmpURL"], gateway.process.pid, gateway.router_ports
    turns.add(job, "ours", rtmp(url, keys, clip, seconds, pid, ports, waits=waits))
    with BareRelay("rtmp", STREAMS, ports) as relay:
        turns.add(job, "relay", relay.rtmp(clip, seconds, waits))


def whip_costs(table, seconds, rounds, peers):
    """Janus forwards the same packets to the same ports."""
    gateway, other, turns = Gateway(), Janus() if peers else None, Turns()
    try:
        tokens = gateway.tokens(STREAMS)
        for _ in range(rounds):
            for job, (options, _) in VARIANTS.items():
                whip_round(turns, job, gateway, tokens, options, seconds)
                if other:
                    turns.add(job, "peer", other.forwarding(STREAMS, seconds, gateway.router_ports, *options))
    finally:
        gateway.close()
        if other:
            other.close()
    for job, (_, goal) in VARIANTS.items():
        turns.row(table, f"WHIP to RTP, {job}, {STREAMS} streams", job, goal)


def whip_round(turns: Turns, job: str, gateway: Gateway, tokens: list[str], options: list[str], seconds: float, waits: bool = False):
    url, pid, ports = gateway.quickstart["whipURL"], gateway.process.pid, gateway.router_ports
    turns.add(job, "ours", whip(url, tokens, seconds, pid, ports, *options, waits=waits))
    with BareRelay("srtp", STREAMS, ports, *(["--aes-cm"] if "--aes-cm" in options else [])) as relay:
        turns.add(job, "relay", relay.whip(seconds, waits, *options))


def waiting(table, seconds, rounds, peers):
    """The same where the receiver waits for each packet, so that whoever sends to it pays for waking it."""
    gateway, turns = Gateway(), Turns()
    variants = {job: VARIANTS[job] for job in ("GCM, bursts", "GCM, paced")}
    try:
        keys, tokens = gateway.keys(STREAMS), gateway.tokens(STREAMS)
        for _ in range(rounds):
            for job, (clip, _) in MEDIA.items():
                rtmp_round(turns, job, gateway, keys, clip(), seconds, waits=True)
            for job, (options, _) in variants.items():
                whip_round(turns, job, gateway, tokens, options, seconds, waits=True)
    finally:
        gateway.close()
    for protocol, jobs in ("RTMP", MEDIA), ("WHIP", variants):
        for job, (_, goal) in jobs.items():
            turns.row(table, f"{protocol} to RTP, {job}, {STREAMS} streams, a receiver that waits", job, goal)
