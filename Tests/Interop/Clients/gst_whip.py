#!/usr/bin/python3
"""gst_whip.py SECONDS URL TOKEN: a WHIP publisher on GStreamer's webrtcbin (libnice), bundled, trickling by PATCH.

Needs python3-gi with GstWebRTC. libnice does not use 127.0.0.1: run it in a network namespace with an address of its own.
SIGUSR2 ends it before its time.
"""
import signal
import sys
import urllib.parse
import urllib.request

import gi
gi.require_version('Gst', '1.0')
gi.require_version('GstSdp', '1.0')
gi.require_version('GstWebRTC', '1.0')
from gi.repository import GLib, Gst, GstSdp, GstWebRTC

PIPELINE = (
    'webrtcbin name=peer bundle-policy=max-bundle '
    'videotestsrc is-live=true ! video/x-raw,width=640,height=360,framerate=30/1 ! x264enc tune=zerolatency speed-preset=ultrafast bitrate=800 key-int-max=60 '
    '! video/x-h264,profile=constrained-baseline ! rtph264pay config-interval=-1 aggregate-mode=zero-latency '
    '! application/x-rtp,media=video,encoding-name=H264,payload=96 ! peer. '
    'audiotestsrc is-live=true ! audioconvert ! audioresample ! opusenc ! rtpopuspay '
    '! application/x-rtp,media=audio,encoding-name=OPUS,payload=97 ! peer.')


class Publisher:
    def __init__(self, url, token):
        self.url, self.token, self.session, self.etag, self.ufrag = url, token, None, '', ('', '')
        self.pipeline = Gst.parse_launch(PIPELINE)
        self.peer = self.pipeline.get_by_name('peer')
        self.waiting = []
        self.peer.connect('on-negotiation-needed', self.negotiate)
        self.peer.connect('on-ice-candidate', self.found)
        self.peer.connect('notify::connection-state', self.changed)
        for index in range(2):
            transceiver = self.peer.emit('get-transceiver', index)
            if transceiver:
                transceiver.set_property('direction', GstWebRTC.WebRTCRTPTransceiverDirection.SENDONLY)

    def changed(self, peer, _):
        print('state', peer.get_property('connection-state').value_nick, flush=True)

    def request(self, method, url, body=None, **headers):
        headers = {name.replace('_', '-'): value for name, value in headers.items()}
        request = urllib.request.Request(url, body.encode() if body else None, {'Authorization': 'Bearer ' + self.token, **headers}, method=method)
        try:
            return urllib.request.urlopen(request, timeout=60)
        except urllib.error.HTTPError as error:
            return error

    def negotiate(self, peer):
        peer.emit('create-offer', None, Gst.Promise.new_with_change_func(self.offered, None))

    def offered(self, promise, _):
        promise.wait()
        reply = promise.get_reply()  # owns the offer: keep it
        offer = reply.get_value('offer')
        self.peer.emit('set-local-description', offer, Gst.Promise.new())
        text = offer.sdp.as_text()
        response = self.request('POST', self.url, text, Content_Type='application/sdp')
        body = response.read().decode()
        print('POST', response.status, flush=True)
        if response.status != 201:
            print(body, flush=True)
            return
        self.session = urllib.parse.urljoin(self.url, response.headers['Location'])
        self.etag = response.headers['ETag']
        lines = text.splitlines()
        self.ufrag = tuple(next(l for l in lines if l.startswith(a)) for a in ('a=ice-ufrag:', 'a=ice-pwd:'))
        _, message = GstSdp.SDPMessage.new_from_text(body)
        answer = GstWebRTC.WebRTCSessionDescription.new(GstWebRTC.WebRTCSDPType.ANSWER, message)
        self.peer.emit('set-remote-description', answer, Gst.Promise.new())
        GLib.timeout_add(500, self.trickle)

    def found(self, _, line, candidate):
        self.waiting.append(candidate)

    def trickle(self):
        lines, self.waiting = ['a=' + c for c in self.waiting], []
        body = '\r\n'.join([*self.ufrag, 'm=audio 9 RTP/AVP 0', 'a=mid:video0', *lines, 'a=end-of-candidates', ''])
        kind = 'application/trickle-ice-sdpfrag'
        print('PATCH', self.request('PATCH', self.session, body, Content_Type=kind, If_Match=self.etag).status, flush=True)
        return False

    def stop(self, loop):
        if self.session:
            print('DELETE', self.request('DELETE', self.session).status, flush=True)
        self.pipeline.set_state(Gst.State.NULL)
        loop.quit()


def main():
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    seconds = float(sys.argv[1])
    signal.alarm(int(seconds) + 200)
    Gst.init(None)
    publisher, loop = Publisher(sys.argv[2], sys.argv[3]), GLib.MainLoop()
    publisher.pipeline.set_state(Gst.State.PLAYING)
    GLib.timeout_add(int(seconds * 1000), publisher.stop, loop)
    GLib.unix_signal_add(GLib.PRIORITY_DEFAULT, signal.SIGUSR2, publisher.stop, loop)
    loop.run()


main()
