#!/usr/bin/env python3
"""whip_obs.py SECONDS URL TOKEN FILE [LOSS]: publishes FILE (H.264 and Opus, Matroska) as OBS does.

A frame's packets leave in a burst, sender reports go out every second, lost packets (LOSS percent) are sent again when asked for.
One packet, after 5 s, is lost for good: the requests for a keyframe that follow change nothing. Prints what it did as one JSON object; exits non-zero unless the DELETE was answered 200.
SIGUSR2 ends it before its time.
"""
import json
import random
import signal
import struct
import sys
import time

import av
from whip_peer import Peer, orders

MTU = 1180


def units(data, prefix=4):
    """The NAL units of a length-prefixed access unit."""
    while len(data) > prefix:
        length = int.from_bytes(data[:prefix], 'big')
        yield data[prefix:prefix + length]
        data = data[prefix + length:]


def parameter_sets(extradata):
    """SPS and PPS of an avcC box with one of each."""
    length = int.from_bytes(extradata[6:8], 'big')
    sps, rest = extradata[8:8 + length], extradata[8 + length:]
    return [sps, rest[3:3 + int.from_bytes(rest[1:3], 'big')]]


def payloads(unit):
    """One packet, or fragments (FU-A, RFC 6184 section 5.8)."""
    if len(unit) <= MTU:
        return [unit]
    pieces = [unit[start:start + MTU - 2] for start in range(1, len(unit), MTU - 2)]
    ends = [0x80] + [0] * (len(pieces) - 2) + [0x40]
    return [bytes([unit[0] & 0x60 | 28, unit[0] & 31 | end]) + piece for end, piece in zip(ends, pieces)]


class Stream:
    def __init__(self, peer, loss):
        self.peer, self.loss, self.start = peer, loss, time.time()
        self.counts = {'video': 0, 'audio': 0, 'bytes': 0}
        self.audio_sequence = 5000
        self.has_lost_one = False

    def video(self, packet, extradata, at):
        whole = list(units(bytes(packet)))
        if packet.is_keyframe:
            whole = parameter_sets(extradata) + whole
        parts = [(payload, unit is whole[-1] and payload is last) for unit in whole
                 for made in [payloads(unit)] for last in [made[-1]] for payload in made]
        self.peer.timestamp = 90000 + round(at * 90000)
        for payload, is_last in parts:
            # What shows a loss is the packet after it: the last of a frame always goes out.
            lost = not is_last and self.counts['video'] > 200 and random.random() * 100 < self.loss
            is_gone = at > 5 and not is_last and not packet.is_keyframe and not self.has_lost_one
            self.peer.send_video(payload, is_last, lost or is_gone)
            if is_gone:
                self.has_lost_one = True
                del self.peer.sent[self.peer.sequence - 1 & 0xFFFF]
            self.counts['video'] += 1

    def audio(self, packet, at):
        payload = bytes(packet)
        self.peer.send(self.peer.outbound.protect(self.peer.rtp(
            payload, False, 111, self.peer.audio, self.audio_sequence, 48000 + round(at * 48000))))
        self.audio_sequence += 1
        self.counts['audio'] += 1

    def report(self, at):
        seconds = time.time() + 2208988800
        moment = struct.pack('!II', int(seconds), int(seconds % 1 * 2**32))
        for ssrc, first, rate in ((self.peer.ssrc, 90000, 90000), (self.peer.audio, 48000, 48000)):
            report = struct.pack('!BBHI', 0x80, 200, 6, ssrc) + moment + struct.pack(
                '!III', first + round(at * rate) & 0xFFFFFFFF, self.counts['video'], 0)
            self.peer.send(self.peer.outbound.protect_rtcp(report))

    def play(self, path, seconds):
        next_report, next_check, offset = 0, 5, 0.0
        while True:
            with av.open(path) as file:
                extradata = bytes(file.streams.video[0].codec_context.extradata)
                at = 0
                for packet in file.demux(file.streams.video[0], file.streams.audio[0]):
                    if packet.dts is None:
                        continue
                    at = offset + float(packet.pts * packet.time_base)
                    while (ahead := at - (time.time() - self.start)) > 0:
                        self.peer.receive(timeout=ahead)
                    if at >= seconds or self.peer.is_closed or orders:
                        return
                    if packet.stream.type == 'video':
                        self.video(packet, extradata, at)
                    else:
                        self.audio(packet, at)
                    self.peer.receive()
                    if at >= next_report:
                        self.report(at)
                        next_report += 1
                    if at >= next_check:
                        self.peer.send(self.peer.request())
                        next_check += 5
                offset = at + 1 / 30


def main():
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    seconds, url, token, path = float(sys.argv[1]), *sys.argv[2:5]
    signal.alarm(int(seconds) + 200)
    peer = Peer(url, token)
    if not peer.connect():
        sys.exit('not connected')
    stream = Stream(peer, float(sys.argv[5]) if len(sys.argv) > 5 else 0)
    stream.play(path, seconds)
    # The last requests are on their way.
    end = time.time() + 0.3
    while time.time() < end:
        peer.receive(timeout=0.05)
    # OBS ends the association first: the session is over by the time of its DELETE.
    if not peer.is_closed:
        peer.close()
        end = time.time() + 10
        while peer.check(timeout=0.2) and time.time() < end:
            pass
    status = peer.delete()
    print(json.dumps({
        'video': stream.counts['video'], 'audio': stream.counts['audio'], 'nacked': peer.nacked,
        'retransmitted': peer.retransmitted, 'keyframeRequests': peer.keyframe_requests, 'receiverReports': peer.reports,
        'deleted': status, 'closed': peer.is_closed}))
    sys.exit(status != 200)


if __name__ == '__main__':
    main()
