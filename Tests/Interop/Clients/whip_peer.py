"""A WHIP client shaped like OBS 32 whose every step can be done wrong: raw HTTP, raw checks, DTLS and SRTP on sockets at hand.

It stands in for OBS's WHIP plugin: its offer, no candidates, its User-Agent and header fields, exactly 201 and 200 taken for
success, NACK answered, keyframe requests ignored. Libraries: aioice (STUN messages), pyOpenSSL (DTLS), pylibsrtp.
"""
import os
import re
import select
import signal
import socket
import struct
import time
import urllib.parse

from aioice import stun
from aiortc.rtcdtlstransport import SRTP_PROFILES, RTCCertificate
from OpenSSL import SSL
from pylibsrtp import Policy, Session

AGENT = 'Mozilla/5.0 (OBS-Studio/32.2.2; Linux x86_64; en-US)'
# As OBS with libdatachannel 0.21 offers: transport attributes at the session level alone, no candidate.
OFFER = '\r\n'.join([
    'v=0', 'o=rtc {ssrc} 0 IN IP4 127.0.0.1', 's=-', 't=0 0', 'a=group:BUNDLE 0 1', 'a=group:LS 0 1', 'a=msid-semantic:WMS *',
    'a=setup:actpass', 'a=ice-ufrag:{ufrag}', 'a=ice-pwd:{password}', 'a=ice-options:ice2,trickle',
    'a=fingerprint:sha-256 {fingerprint}',
    'm=audio 9 UDP/TLS/RTP/SAVPF 111', 'c=IN IP4 0.0.0.0', 'a=mid:0', 'a=sendonly', 'a=ssrc:{audio} cname:obs',
    'a=msid:obs obs-audio', 'a=rtcp-mux', 'a=rtpmap:111 opus/48000/2',
    'a=fmtp:111 minptime=10;maxaveragebitrate=96000;stereo=1;sprop-stereo=1;useinbandfec=1',
    'm=video 9 UDP/TLS/RTP/SAVPF 96', 'c=IN IP4 0.0.0.0', 'a=mid:1', 'a=sendonly',
    'a=extmap:1 urn:ietf:params:rtp-hdrext:sdes:mid', 'a=extmap:2 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id',
    'a=ssrc:{ssrc} cname:obs', 'a=msid:obs obs-video', 'a=rtcp-mux', 'a=rtpmap:96 H264/90000', 'a=rtcp-fb:96 nack',
    'a=rtcp-fb:96 nack pli', 'a=rtcp-fb:96 goog-remb',
    'a=fmtp:96 profile-level-id=42e01f;packetization-mode=1;level-asymmetry-allowed=1', ''])
# Parameter sets of 1280x720 Constrained Baseline.
SPS = bytes.fromhex('6742c01fda014016ec05a808080a000003000200000300791e306540')
PPS = bytes.fromhex('68ce3c80')

# SIGUSR2 ends a publish before its time.
orders = []
signal.signal(signal.SIGUSR2, lambda number, _: orders.append(number))


def http(url, method, headers=(), body=b'', source=''):
    """One request on a connection of its own; the status, the header fields in lower case, and the body."""
    parts = urllib.parse.urlsplit(url)
    fields = ['%s %s %s' % (method, parts.path or '/', 'HTTP/1.1'), 'Host: ' + parts.netloc, 'Accept: */*', *headers]
    if body or method == 'POST':
        fields.append('Content-Length: %d' % len(body))
    with socket.create_connection((parts.hostname, parts.port), 60, (source, 0)) as connection:
        connection.sendall('\r\n'.join(fields + ['', '']).encode() + body)
        return answer(connection)


def answer(connection):
    """Reads one response; status 0 when the server closed without one."""
    received = b''
    while b'\r\n\r\n' not in received:
        try:
            chunk = connection.recv(65536)
        except ConnectionResetError:
            chunk = b''
        if not chunk:
            return 0, {}, received
        received += chunk
    head, body = received.split(b'\r\n\r\n', 1)
    lines = head.decode('latin-1').split('\r\n')
    fields = {}
    for line in lines[1:]:
        name, value = line.split(':', 1)
        fields[name.lower()] = value.strip()
    while len(body) < int(fields.get('content-length', 0)):
        body += connection.recv(65536)
    return int(lines[0].split()[1]), fields, body


class Peer:
    """One publisher. `sockets[active]` is what it sends from."""

    def __init__(self, url, token):
        self.url, self.token, self.source = url, token, ''
        self.certificate = RTCCertificate.generateCertificate()
        self.ssrc = int.from_bytes(os.urandom(4), 'big') | 16
        self.audio = self.ssrc ^ 1
        self.ufrag, self.password = 'obs4', 'lkWqpE4JbUuUnX4Nf+7px9'
        self.sockets, self.active = [], 0
        self.sequence, self.timestamp = 1000, 90000
        self.sent = {}
        self.nacked = self.retransmitted = self.keyframe_requests = self.reports = 0
        # The highest number of the video that the server says it has received.
        self.highest = 0
        self.is_closed = False
        self.ssl = self.outbound = self.inbound = None
        self.add_socket()

    # HTTP

    def offer(self):
        fingerprint = next(p.value for p in self.certificate.getFingerprints() if p.algorithm == 'sha-256')
        return OFFER.format(
            ssrc=self.ssrc, audio=self.audio, ufrag=self.ufrag, password=self.password, fingerprint=fingerprint)

    def authorization(self):
        return ['Authorization: Bearer ' + self.token, 'User-Agent: ' + AGENT]

    def post(self, offer=None):
        """Returns the status; OBS goes on with 201 alone."""
        headers = ['Content-Type: application/sdp', *self.authorization()]
        status, fields, body = http(self.url, 'POST', headers, (offer or self.offer()).encode(), self.source)
        if status != 201:
            return status
        text = body.decode()
        self.location = urllib.parse.urljoin(self.url, fields['location'])
        # OBS splits every Link at its commas.
        self.links = [part for part in fields.get('link', '').split(',') if part]
        self.remote_ufrag = re.search(r'a=ice-ufrag:(\S+)', text)[1]
        self.remote_password = re.search(r'a=ice-pwd:(\S+)', text)[1]
        found = re.findall(r'a=candidate:\S+ 1 udp \d+ (\S+) (\d+) typ host', text, re.I)
        self.remote = next(((host, int(port)) for host, port in found if ':' not in host), None) or (found[0][0], int(found[0][1]))
        return status

    def delete(self):
        return http(self.location, 'DELETE', self.authorization(), source=self.source)[0]

    def restart(self):
        """An ICE restart (RFC 9725 section 4.3.2): new credentials on both sides; the status."""
        self.ufrag, self.password = 'obs5', 'nkWqpE4JbUuUnX4Nf+7px9'
        fragment = 'a=ice-ufrag:%s\r\na=ice-pwd:%s\r\n' % (self.ufrag, self.password)
        headers = ['Content-Type: application/trickle-ice-sdpfrag', 'If-Match: *', *self.authorization()]
        status, _, body = http(self.location, 'PATCH', headers, fragment.encode(), self.source)
        if status == 200:
            self.remote_ufrag = re.search(r'a=ice-ufrag:(\S+)', body.decode())[1]
            self.remote_password = re.search(r'a=ice-pwd:(\S+)', body.decode())[1]
        return status

    # Checks

    def add_socket(self, host=None):
        family = socket.AF_INET6 if host and ':' in host else socket.AF_INET
        made = socket.socket(family, socket.SOCK_DGRAM)
        made.bind((host or '127.0.0.1', 0))
        self.sockets.append(made)
        return len(self.sockets) - 1

    def request(self, password=None, nominate=True):
        message = stun.Message(message_method=stun.Method.BINDING, message_class=stun.Class.REQUEST)
        message.attributes['USERNAME'] = self.remote_ufrag + ':' + self.ufrag
        message.attributes['PRIORITY'] = 1853824767
        message.attributes['ICE-CONTROLLING'] = 4711
        if nominate:
            message.attributes['USE-CANDIDATE'] = None
        message.add_message_integrity((password or self.remote_password).encode())
        return bytes(message)

    def check(self, index=None, password=None, nominate=True, timeout=60):
        """Whether a check from that socket is answered."""
        index = self.active if index is None else index
        end = time.time() + timeout
        while time.time() < end:
            self.send(self.request(password, nominate), index)
            if any(data[0] < 4 for data in self.receive(index, 0.1)):
                return True
        return False

    def connect(self):
        """POST, check, DTLS; whether media may go."""
        return self.post() == 201 and self.check() and self.handshake()

    # Datagrams

    def send(self, data, index=None):
        self.sockets[self.active if index is None else index].sendto(data, self.remote)

    def receive(self, index=None, timeout=0.0):
        """Whatever waits on a socket; feedback among it is acted on."""
        index = self.active if index is None else index
        received = []
        while select.select([self.sockets[index]], [], [], 0 if received else timeout)[0]:
            data = self.sockets[index].recv(4096)
            received.append(data)
            self.take(data)
        return received

    def take(self, data):
        if 20 <= data[0] < 64 and self.outbound:
            self.ssl.bio_write(data)
            try:
                self.ssl.recv(4096)
            except SSL.ZeroReturnError:
                self.is_closed = True
            except SSL.Error:
                pass
        elif 128 <= data[0] < 192 and self.inbound:
            self.feedback(self.inbound.unprotect_rtcp(data))

    # DTLS

    def hello(self, ciphers=None):
        """Begins DTLS anew; the first flight."""
        context = self.context()
        if ciphers:
            context.set_cipher_list(ciphers)
        self.ssl = SSL.Connection(context)
        self.ssl.set_connect_state()
        return self.step()

    def context(self):
        return self.certificate._create_ssl_context(
            [p for p in SRTP_PROFILES if p.openssl_profile == b'SRTP_AEAD_AES_128_GCM'])

    def step(self):
        """Goes on with what was received; what is to be sent, None once all is done."""
        try:
            self.ssl.do_handshake()
        except SSL.WantReadError:
            pass
        flights = []
        while True:
            try:
                flights.append(self.ssl.bio_read(1500))
            except SSL.WantReadError:
                return flights

    def handshake(self, timeout=60, is_begun=False):
        """Runs DTLS over the active socket; whether keys are there."""
        for flight in [] if is_begun else self.hello():
            self.send(flight)
        end = time.time() + timeout
        while time.time() < end:
            for data in self.receive(timeout=0.2):
                if 20 <= data[0] < 64:
                    self.ssl.bio_write(data)
            for flight in self.step():
                self.send(flight)
            if self.ssl.get_selected_srtp_profile() and self.ssl.get_finished() and self.ssl.get_peer_finished():
                self.install()
                return True
        return False

    def close(self):
        """Ends the association by close_notify."""
        self.ssl.shutdown()
        self.send(self.ssl.bio_read(1500))

    def install(self):
        profile = next(p for p in SRTP_PROFILES if p.openssl_profile == self.ssl.get_selected_srtp_profile())
        view = self.ssl.export_keying_material(b'EXTRACTOR-dtls_srtp', 2 * (profile.key_length + profile.salt_length))
        self.policy = lambda key, kind: Policy(key=profile.get_key_and_salt(view, key), ssrc_type=kind, srtp_profile=profile.libsrtp_profile)
        self.inbound = Session(self.policy(1, Policy.SSRC_ANY_INBOUND))
        self.outbound = self.new_outbound()

    def new_outbound(self):
        return Session(self.policy(0, Policy.SSRC_ANY_OUTBOUND))

    # Media

    def rtp(self, payload, marker=True, kind=96, ssrc=None, sequence=None, timestamp=None):
        return struct.pack(
            '!BBHII', 0x80, (0x80 if marker else 0) | kind, (self.sequence if sequence is None else sequence) & 0xFFFF,
            (self.timestamp if timestamp is None else timestamp) & 0xFFFFFFFF, ssrc or self.ssrc) + payload

    def send_video(self, payload, marker, lost=False):
        """One packet of the video; a lost one is kept for the request that follows."""
        protected = self.outbound.protect(self.rtp(payload, marker))
        self.sent[self.sequence & 0xFFFF] = protected
        self.sent.pop((self.sequence - 2048) & 0xFFFF, None)
        self.sequence += 1
        if not lost:
            self.send(protected)
        return protected

    def send_frame(self, key=False):
        """A small picture, with its parameter sets where it is a keyframe; the last packet as sent."""
        if key:
            self.send_video(b'\x18' + b''.join(struct.pack('!H', len(unit)) + unit for unit in (SPS, PPS)), False)
        packet = self.send_video((b'\x65' if key else b'\x41') + b'\x9a' + b'\x55' * 200, True)
        self.timestamp += 3000
        return packet

    def feedback(self, compound):
        """What OBS does with RTCP: it answers NACK, and nothing else."""
        while len(compound) >= 4:
            length = 4 * (struct.unpack_from('!H', compound, 2)[0] + 1)
            count, kind = compound[0] & 31, compound[1]
            if kind == 201:
                self.reports += 1
                for block in range(8, 8 + 24 * count, 24):
                    if struct.unpack_from('!I', compound, block)[0] == self.ssrc:
                        self.highest = struct.unpack_from('!I', compound, block + 8)[0]
            if kind == 205 and count == 1 and struct.unpack_from('!I', compound, 8)[0] == self.ssrc:
                for first, mask in struct.iter_unpack('!HH', compound[12:length]):
                    for number in [first] + [first + 1 + bit for bit in range(16) if mask >> bit & 1]:
                        self.nacked += 1
                        if number & 0xFFFF in self.sent:
                            self.retransmitted += 1
                            self.send(self.sent[number & 0xFFFF])
            if kind == 206 and count in (1, 4):
                self.keyframe_requests += 1
            compound = compound[length:]
