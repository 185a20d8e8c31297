#!/usr/bin/env python3
"""A stage router in one file, written from docs/stage-router.md: takes announced participants, their layers too,
and counts their media. It knows no SRTP.

usage: stage_router.py [--http PORT] [--address ADDRESS]      (port 0: a free one, printed as the first line)
"""
import argparse
import hashlib
import json
import re
import socket
import struct
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

BOOT_ID = str(uuid.uuid4())
participants = {}  # participantId -> Participant
leases = {}  # gatewayId -> monotonic time of expiry
lock = threading.Lock()


def family(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


class Participant:
    """One announce: a UDP socket for all tracks (rtcp-mux), and what came to it."""

    def __init__(self, announce, address):
        self.announce, self.generation = announce, announce["generation"]
        self.socket = socket.socket(family(address), socket.SOCK_DGRAM)
        self.socket.bind((address, 0))
        self.socket.settimeout(0.5)
        self.tracks, self.media, self.cname, self.said_bye = {}, [], None, False
        for section in re.split(r"(?m)^m=", announce["sdp"])[1:]:
            kind, payload_type = section.split()[0], section.split("\r\n")[0].split()[3]
            ssrcs = [int(ssrc) for ssrc in re.findall(r"a=ssrc:(\d+)", section)]
            rids = re.findall(r"a=rid:(\w+) send", section)
            self.media.append((kind, payload_type, rids, re.findall(r"a=extmap:\S+ \S+sdes:\S+", section)))
            for ssrc, rid in zip(ssrcs, rids or [None]):
                self.tracks[ssrc] = {"kind": kind, "rid": rid, "packets": 0, "bytes": 0, "first": None, "highest": 0,
                                     "reports": 0, "asked": 0.0, "pause": 0}
        threading.Thread(target=self.receive, daemon=True).start()

    def answer(self, address):
        family = "IP6" if ":" in address else "IP4"
        lines = ["v=0", f"o=- {self.generation} 1 IN {family} {address}", "s=-", f"c=IN {family} {address}", "t=0 0"]
        for kind, payload_type, rids, extensions in self.media:
            codec = "H264/90000" if kind == "video" else "opus/48000/2"
            lines += [f"m={kind} {self.socket.getsockname()[1]} RTP/AVPF {payload_type}", "a=recvonly", "a=rtcp-mux",
                      f"a=rtpmap:{payload_type} {codec}", f"a=rtcp-fb:{payload_type} nack"]
            if kind == "video":
                lines.append(f"a=rtcp-fb:{payload_type} nack pli")
            if rids:
                lines += [f"a=rid:{rid} recv" for rid in rids] + ["a=simulcast:recv " + ";".join(rids)] + extensions
                lines.append(f"a=rtcp-fb:{payload_type} ccm pause nowait")
        return "\r\n".join(lines) + "\r\n"

    def receive(self):
        while self.socket.fileno() >= 0:
            try:
                self.take(*self.socket.recvfrom(16_384))
            except (OSError, IndexError, struct.error, UnicodeDecodeError):
                continue  # nothing for half a second, or closed; or anybody's packet that is shorter than it says

    def take(self, packet, source):
        if len(packet) < 8 or packet[0] >> 6 != 2:
            return
        if 192 <= packet[1] <= 223:
            self.control(packet, source)
        else:
            self.rtp(packet, source)

    def rtp(self, packet, source):
        ssrc = struct.unpack_from(">I", packet, 8)[0]
        track = self.tracks.get(ssrc)
        if track is None:
            return  # of an older generation, or somebody else's
        self.source = source
        sequence = struct.unpack_from(">H", packet, 2)[0]
        if track["first"] is None:
            track["first"] = track["highest"] = sequence
            if track["kind"] == "video":
                self.ask_for_keyframe(ssrc)
        track["highest"] += max(0, (sequence - track["highest"] + 0x8000 & 0xFFFF) - 0x8000)
        track["packets"] += 1
        track["bytes"] += len(packet)

    def control(self, packet, source):
        while len(packet) >= 8:
            kind, length = packet[1], 4 * (struct.unpack_from(">H", packet, 2)[0] + 1)
            ssrc = struct.unpack_from(">I", packet, 4)[0]
            if kind == 200 and ssrc in self.tracks:
                self.tracks[ssrc]["reports"] += 1
                self.report(ssrc, struct.unpack_from(">I", packet, 10)[0], source)
            elif kind == 202 and packet[8] == 1:
                self.cname = packet[10:10 + packet[9]].decode()
            elif kind == 203:
                self.said_bye = True
            packet = packet[length:]

    def report(self, ssrc, last_report, source):
        """A receiver report for every sender report: the gateway sees that we live."""
        track = self.tracks[ssrc]
        expected = track["highest"] - track["first"] + 1 if track["packets"] else 0
        lost = max(0, expected - track["packets"]) & 0x7FFFFF
        block = struct.pack(">IIIIII", ssrc, lost, track["highest"] & 0xFFFFFFFF, 0, last_report, 0)
        self.socket.sendto(struct.pack(">BBHI", 0x81, 201, 7, 1) + block, source)

    def ask_for_keyframe(self, ssrc):
        """Of one track, or of one layer."""
        track = self.tracks[ssrc]
        if self.announce["pli"] and time.monotonic() - track["asked"] > 0.5:
            track["asked"] = time.monotonic()
            self.socket.sendto(struct.pack(">BBHII", 0x81, 206, 2, 1, ssrc), self.source)

    def pause(self, ssrc, resume=False):
        """Nobody watches a layer (RFC 7728), or somebody does again."""
        self.socket.sendto(struct.pack(">BBHIIIBBH", 0x89, 205, 4, 1, 0, ssrc, resume << 4, 0, self.tracks[ssrc]["pause"]), self.source)
        self.tracks[ssrc]["pause"] += resume

    def status(self):
        return {"generation": self.generation, "cname": self.cname, "saidBye": self.said_bye, "tracks": list(self.tracks.values())}


def name_of(announce):
    """A participant's id, or with its stage's where another stage has, or had, somebody of that id (a replica, say)."""
    name = announce["participantId"]
    with_stage = f"{announce['stageId']}~{name}"  # no id has a ~
    former = participants.get(name)
    is_others = former is not None and former.announce["stageId"] != announce["stageId"]
    return with_stage if is_others or with_stage in participants else name


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def respond(self, status, value=None, location=None):
        body = json.dumps(value).encode() if value is not None else b""
        self.send_response(status)
        if location:
            self.send_header("Location", location)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def body(self):
        return json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")

    def participant(self):
        name = urlparse(self.path).path.removeprefix("/v1/participants/")
        return name, participants.get(name)

    def do_GET(self):
        if self.path == "/healthz":
            return self.respond(200, {"status": "ok"})
        with lock:
            self.respond(200, {name: participant.status() for name, participant in participants.items()})

    def do_POST(self):
        announce = self.body()
        address = self.server.server_address[0]
        with lock:
            name = name_of(announce)
            former = participants.get(name)
            if former and announce["generation"] < former.generation:
                return self.respond(409, {"generation": former.generation})
            if former:
                former.socket.close()
            participants[name] = participant = Participant(announce, address)
            leases[announce["gatewayId"]] = time.monotonic() + 15
        self.respond(201, {"sdp": participant.answer(address)}, f"/v1/participants/{name}")

    def do_PATCH(self):
        change = self.body()
        with lock:
            name, participant = self.participant()
            if participant is None:
                return self.respond(404)
            if change["generation"] < participant.generation:
                return self.respond(409, {"generation": participant.generation})
            participant.announce.update(change)
        self.respond(200, {})

    def do_DELETE(self):
        generation = int(parse_qs(urlparse(self.path).query).get("generation", ["0"])[0])
        with lock:
            name, participant = self.participant()
            if participant and generation < participant.generation:
                return self.respond(409, {"generation": participant.generation})
            if participant:
                participants.pop(name).socket.close()
        self.respond(204)

    def do_PUT(self):
        lease, gateway = self.body(), self.path.removeprefix("/v1/gateways/")
        with lock:
            leases[gateway] = time.monotonic() + 15
            held = [each for each in participants.values() if each.announce["gatewayId"] == gateway]
        lines = sorted(f"{each.announce['participantId']} {each.generation}\n" for each in held)
        answer = {"bootId": BOOT_ID}
        if hashlib.sha256("".join(lines).encode()).hexdigest() != lease["hash"]:
            answer["participants"] = [each.announce["participantId"] for each in held]
        self.respond(200, answer)

    def log_message(self, *arguments):
        pass


def expire():
    """A gateway that fell silent for 15 s has left, and its participants with it."""
    while True:
        time.sleep(1)
        with lock:
            gone = {gateway for gateway, expiry in leases.items() if expiry < time.monotonic()}
            for name in [name for name, each in participants.items() if each.announce["gatewayId"] in gone]:
                participants.pop(name).socket.close()
            for gateway in gone:
                del leases[gateway]


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--http", type=int, default=0)
    parser.add_argument("--address", default="127.0.0.1")
    options = parser.parse_args()
    ThreadingHTTPServer.address_family = family(options.address)
    server = ThreadingHTTPServer((options.address, options.http), Handler)
    threading.Thread(target=expire, daemon=True).start()
    print(server.server_address[1], flush=True)
    server.serve_forever()
