#!/usr/bin/env python3
"""The stage router of docs/examples with what tests want to know and to go wrong. Prints its port as the first line.

usage: test_router.py [--port PORT] [--delay SECONDS]
           [--certificate PEM --key PEM --clients PEM --bearer TOKEN]     HTTPS for clients with that certificate and token alone
           [--decode FOLDER [--wrong-key]] [--bad-answer] [--record FOLDER]

--decode takes SRTP: GStreamer's srtpdec writes each participant's pictures to FOLDER/ID.h264; with --wrong-key by another key.
--record writes each layer's pictures to FOLDER/RID.h264, as they come.
--bad-answer answers an SRTP offer with a key that is too short.
"""
import argparse
import base64
import contextlib
import ctypes
import os
import random
import re
import signal
import socket
import ssl
import struct
import subprocess
import sys
import threading
import time
from http.server import ThreadingHTTPServer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../docs/examples"))
import stage_router  # noqa: E402

parser = argparse.ArgumentParser()
for name in ["certificate", "key", "clients", "bearer", "decode", "record"]:
    parser.add_argument("--" + name)
parser.add_argument("--port", type=int, default=0)
parser.add_argument("--delay", type=float, default=0)
parser.add_argument("--wrong-key", action="store_true")
parser.add_argument("--bad-answer", action="store_true")
options = parser.parse_args()


def payload_of(packet):
    """Behind the header and its extension."""
    start = 12 + 4 * (packet[0] & 15)
    if packet[0] & 16:
        start += 4 + 4 * struct.unpack_from(">H", packet, start + 2)[0]
    return packet[start:]


def annex_b(payload):
    """What an RTP payload adds to a byte stream; packets come in order and none is lost."""
    mark = b"\0\0\0\1"
    if payload[0] & 31 == 24:
        stream, rest = b"", payload[1:]
        while len(rest) > 2:
            size = struct.unpack_from(">H", rest)[0]
            stream, rest = stream + mark + rest[2:2 + size], rest[2 + size:]
        return stream
    if payload[0] & 31 == 28:
        start = mark + bytes([payload[0] & 0xE0 | payload[1] & 31]) if payload[1] & 0x80 else b""
        return start + payload[2:]
    return mark + payload


def nal_unit_types(payload):
    """Of the NAL units that begin in an RTP payload (RFC 6184)."""
    if payload[0] & 31 == 24:
        types, rest = [], payload[1:]
        while len(rest) > 2:
            size = struct.unpack_from(">H", rest)[0]
            types.append(rest[2] & 31)
            rest = rest[2 + size:]
        return types
    if payload[0] & 31 == 28:
        return [payload[1] & 31] if payload[1] & 0x80 else []
    return [payload[0] & 31]


def room_for_all(receiver):
    """What comes while this process gets no CPU must lie somewhere: as root beyond the system's limit (SO_RCVBUFFORCE)."""
    with contextlib.suppress(OSError):
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        receiver.setsockopt(socket.SOL_SOCKET, 33, 32 << 20)


generations = {}  # participantId -> of each announce that was taken, in order


class CountingParticipant(stage_router.Participant):
    """Counts pictures, and packets that no track of the announce sends."""

    def __init__(self, announce, address):
        self.foreign, self.pictures, self.first_units, self.files = 0, 0, [], {}
        # By SSRC the highest number's, whose timestamp none after it is below; between pictures in ms, the longest.
        self.newest, self.backwards, self.pictured, self.gaps = {}, 0, None, []
        # Whose pictures come of two encoders one of which marks them, since when, and how long nothing came where that changed.
        self.is_marked, self.sliced, self.turns = None, None, []
        self.counting = threading.Lock()
        generations.setdefault(announce["participantId"], []).append(announce["generation"])
        super().__init__(announce, address)
        room_for_all(self.socket)

    def rtp(self, packet, source):
        with self.counting:
            self.count(packet, source)

    def count(self, packet, source):
        track = self.tracks.get(struct.unpack_from(">I", packet, 8)[0])
        if track is None:
            self.foreign += 1
            return super().rtp(packet, source)
        self.follow(packet)
        if track["kind"] == "video":
            self.pictures += packet[1] >> 7
            if packet[1] >> 7:
                self.time()
            self.look(payload_of(packet))
            if len(self.first_units) < 6:
                self.first_units += nal_unit_types(payload_of(packet))
            if options.record:
                self.write(track["rid"], payload_of(packet))
        super().rtp(packet, source)

    def follow(self, packet):
        number, stamp, ssrc = struct.unpack_from(">HII", packet, 2)
        if ssrc in self.newest:
            former, before = self.newest[ssrc]
            if not 0 < (number - former) % 65536 < 32768:
                return
            if (stamp - before) % (1 << 32) >= 1 << 31:
                self.backwards += 1
        self.newest[ssrc] = (number, stamp)

    def time(self):
        now = time.monotonic()
        if self.pictured:
            gap = round((now - self.pictured) * 1000)
            if gap >= 100:
                self.gaps = (self.gaps + [gap])[-1000:]
        self.pictured = now

    def look(self, payload):
        """Slices tell of their encoder by nal_ref_idc (feed.py)."""
        kind, now = payload[0] & 31, time.monotonic()
        if kind in (1, 5) or kind == 28 and payload[1] & 31 in (1, 5):
            is_marked = payload[0] >> 5 & 3 == 1
            if self.is_marked not in (None, is_marked):
                self.turns.append(round((now - self.sliced) * 1000))
            self.is_marked, self.sliced = is_marked, now

    def write(self, rid, payload):
        if rid not in self.files:
            self.files[rid] = open(os.path.join(options.record, f"{rid}.h264"), "wb", buffering=0)
        self.files[rid].write(annex_b(payload))

    def status(self):
        with self.counting:
            told = super().status()
            return {**told, "tracks": [dict(track) for track in told["tracks"]], "foreign": self.foreign, "pictures": self.pictures,
                    "firstUnits": list(self.first_units), "backwards": self.backwards, "gaps": list(self.gaps),
                    "turns": list(self.turns), "generations": generations[self.announce["participantId"]], "muted": self.announce["muted"], "stageArn": self.announce["stageArn"],
                    "layers": self.announce.get("layers", [])}


class ProtectedParticipant(stage_router.Participant):
    """Leaves the video to GStreamer: its port is the pipeline's."""

    def __init__(self, announce, address):
        section = announce["sdp"].split("m=video")[1]
        self.crypto = re.search(r"a=crypto:1 (\S+) inline:(\S+)", section)
        self.video_port = free_port(address)
        super().__init__(announce, address)
        key = base64.b64decode(self.crypto[2])
        if options.wrong_key:
            key = bytes(reversed(key))
        ssrc = next(ssrc for ssrc, track in self.tracks.items() if track["kind"] == "video")
        cipher, authentication = ("aes-128-gcm", "null") if "GCM" in self.crypto[1] else ("aes-128-icm", "hmac-sha1-80")
        form = [
            "application/x-srtp", "media=(string)video", "clock-rate=(int)90000", "encoding-name=(string)H264",
            "payload=(int)96", f"ssrc=(uint){ssrc}", f"srtp-key=(buffer){key.hex()}", f"srtp-cipher=(string){cipher}",
            f"srtp-auth=(string){authentication}", f"srtcp-cipher=(string){cipher}", f"srtcp-auth=(string){authentication}"]
        output = os.path.join(options.decode, announce["participantId"] + ".h264")
        self.pipeline = subprocess.Popen([
            "gst-launch-1.0", "--no-position", "udpsrc", f"address={address}", f"port={self.video_port}", "buffer-size=4194304",
            "caps=" + ",".join(form), "!", "srtpdec", "!", "rtph264depay", "!",
            "video/x-h264,stream-format=byte-stream,alignment=au", "!", "filesink", "buffer-mode=unbuffered",
            "location=" + output], stdout=subprocess.PIPE, text=True, preexec_fn=end_with_parent)
        # Bound is not enough: until it plays, what comes waits in a socket that holds little.
        while "New clock" not in (line := self.pipeline.stdout.readline()):
            if not line:
                raise RuntimeError("the pipeline ended before it played")

    def answer(self, address):
        key = base64.b64encode(os.urandom(28 if "GCM" in self.crypto[1] else 30)).decode()
        if options.bad_answer:
            key = key[:12]
        text = super().answer(address).replace("RTP/AVPF", "RTP/SAVPF").replace("a=rtcp-mux\r\n", "")
        text = text.replace(f"m=video {self.socket.getsockname()[1]}", f"m=video {self.video_port}")
        control = f"a=rtcp:{self.socket.getsockname()[1]}\r\na=crypto:1 {self.crypto[1]} inline:{key}\r\n"
        return text.replace("a=recvonly\r\n", "a=recvonly\r\n" + control)

    def end(self):
        self.pipeline.terminate()


def end_with_parent():
    """The kernel ends the receiver when this router is killed (PR_SET_PDEATHSIG)."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def free_port(address):
    """One that the kernel gives nobody before it is bound again."""
    while True:
        port = random.randrange(10_000, 20_000)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe, contextlib.suppress(OSError):
            probe.bind((address, port))
            return port


class Handler(stage_router.Handler):
    def admitted(self):
        if options.bearer is None or self.headers.get("Authorization") == "Bearer " + options.bearer:
            return True
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.respond(401)
        return False

    def do_POST(self):
        if self.admitted():
            time.sleep(options.delay)
            super().do_POST()

    def do_PUT(self):
        if self.admitted():
            super().do_PUT()


def finish():
    """Ends with its parent, and its pipelines with it."""
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(.2)
    for participant in stage_router.participants.values():
        getattr(participant, "end", lambda: None)()
    os._exit(0)


stage_router.Participant = ProtectedParticipant if options.decode else CountingParticipant
server = ThreadingHTTPServer(("127.0.0.1", options.port), Handler)
if options.certificate:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(options.certificate, options.key)
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_verify_locations(options.clients)
    server.socket = context.wrap_socket(server.socket, server_side=True)
threading.Thread(target=stage_router.expire, daemon=True).start()
threading.Thread(target=finish, daemon=True).start()
print(server.server_address[1], flush=True)
server.serve_forever()
