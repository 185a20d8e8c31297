#!/usr/bin/env python3
"""whip_ffmpeg.py SECONDS URL TOKEN: publishes as ffmpeg 9 does by default, in what goes wrong with it.

It offers `setup:passive`, swallows the first ClientHello, and reads a NACK only when nothing stands before it in its datagram. A
DTLS record after its handshake would make the real one's socket blocking: such records are counted. Prints what it did as one JSON
object; exits non-zero unless it published to the end.
"""
import json
import signal
import sys
import time

from OpenSSL import SSL
from pylibsrtp import Policy, Session
from whip_peer import Peer, orders

FRAMES = 30


class FFmpeg(Peer):
    def __init__(self, url, token):
        super().__init__(url, token)
        self.strays = 0

    def offer(self):
        return super().offer().replace('a=setup:actpass', 'a=setup:passive').replace(
            'a=rtcp-mux\r\na=rtpmap:96', 'a=rtcp-mux\r\na=rtcp-rsize\r\na=rtpmap:96')

    def handshake(self, timeout=60, is_begun=False):
        """Waits for our peer's ClientHello; whether keys are there."""
        self.hello()
        # ffmpeg's own first receive takes it, and does nothing with it.
        has_swallowed, end, last_check = False, time.time() + timeout, time.time()
        while time.time() < end:
            if time.time() - last_check > 1:
                last_check = time.time()
                self.send(self.request())
            for data in self.receive(timeout=0.05):
                if 20 <= data[0] < 64 and not has_swallowed:
                    has_swallowed = True
                elif 20 <= data[0] < 64:
                    self.ssl.bio_write(data)
                    for flight in self.step():
                        self.send(flight)
            if self.ssl.get_finished() and self.ssl.get_peer_finished():
                self.install()
                return True
        return False

    def hello(self, ciphers=None):
        self.ssl = SSL.Connection(self.context())
        self.ssl.set_accept_state()

    def install(self):
        super().install()
        self.inbound = Session(self.policy(0, Policy.SSRC_ANY_INBOUND))

    def new_outbound(self):
        return Session(self.policy(1, Policy.SSRC_ANY_OUTBOUND))

    def take(self, data):
        if self.outbound and 20 <= data[0] < 64:
            self.strays += 1
        super().take(data)

    def feedback(self, compound):
        if compound[1] == 205:
            super().feedback(compound)


def main():
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    seconds = float(sys.argv[1])
    signal.alarm(int(seconds) + 200)
    peer = FFmpeg(*sys.argv[2:4])
    if not peer.connect():
        sys.exit('not connected')
    print('connected', flush=True)
    start, frame = time.time(), 0
    while (at := frame / FRAMES) < seconds and not peer.is_closed and not orders:
        while (ahead := at - (time.time() - start)) > 0:
            peer.receive(timeout=ahead)
        if frame % FRAMES == 0:
            peer.send(peer.request())
        peer.send_frame(key=frame % (2 * FRAMES) == 0)
        frame += 1
    end = time.time() + 1
    while time.time() < end:
        peer.receive(timeout=0.1)
    strays = peer.strays
    status = peer.delete()
    print(json.dumps({'frames': frame, 'strays': strays, 'retransmitted': peer.retransmitted, 'deleted': status}))
    sys.exit(status != 200)


if __name__ == '__main__':
    main()
