#!/usr/bin/env python3
"""browser_whep.py PAGE-URL WHEP-URL TOKEN SECONDS [UDP-PORT]: watches one participant in headless Chromium and tells what it sees.

PAGE-URL is any page of the gateway's: its origin may ask. With UDP-PORT the gateway's candidates are given that port, where a
distant_path.py listens. Every quarter of a second one line of JSON: `at`, seconds since the answer; `height` of the newest
picture; `frames` decoded so far; `gap`, the longest time between two pictures since the line before, the running one included, in
milliseconds; `sound`, seconds of it played so far; `told`, what the gateway says of its layer.
"""
import json
import sys
import time

from webdriver import chromium

WATCH = """
const [url, token, port, done] = arguments;
const peer = window.peer = new RTCPeerConnection();
const video = Object.assign(document.createElement('video'), {muted: true, autoplay: true, playsInline: true});
document.body.append(video);
video.srcObject = new MediaStream();
peer.ontrack = event => video.srcObject.addTrack(event.track);
window.longest = 0;
const seen = () => {
  const now = performance.now();
  if (window.last) window.longest = Math.max(window.longest, now - window.last);
  window.last = now;
  video.requestVideoFrameCallback(seen);
};
video.requestVideoFrameCallback(seen);
(async () => {
  for (const kind of ['video', 'audio']) peer.addTransceiver(kind, {direction: 'recvonly'});
  await peer.setLocalDescription();
  const headers = {Authorization: `Bearer ${token}`, 'Content-Type': 'application/sdp'};
  const answer = await fetch(url, {method: 'POST', headers, body: peer.localDescription.sdp});
  let sdp = await answer.text();
  if (!answer.ok) return done(sdp);
  window.layerURL = new URL(answer.headers.get('Location'), url).href + '/layer';
  window.asking = {Authorization: headers.Authorization};
  if (port) sdp = sdp.replace(/^(a=candidate:.* udp .*) \\d+ typ host.*$/gmi, `$1 ${port} typ host`);
  await peer.setRemoteDescription({type: 'answer', sdp});
  done('');
})().catch(error => done(String(error)));
"""
SAMPLE = """
const done = arguments[0];
const running = window.last ? performance.now() - window.last : 0;
const gap = Math.max(window.longest, running);
window.longest = 0;
Promise.all([peer.getStats(), fetch(layerURL, {headers: asking}).then(each => each.json())]).then(([report, told]) => {
  const found = {video: {}, audio: {}};
  report.forEach(each => { if (each.type === 'inbound-rtp') found[each.kind] = each; });
  done({height: found.video.frameHeight ?? 0, frames: found.video.framesDecoded ?? 0, gap: Math.round(gap),
    sound: found.audio.totalSamplesDuration ?? 0, told});
}, error => done({fault: String(error)}));
"""


def main():
    page, url, token, seconds = sys.argv[1], sys.argv[2], sys.argv[3], float(sys.argv[4])
    port = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    with chromium(int(seconds) + 90) as browser:
        def script(text, *arguments):
            return browser.call('POST', '/execute/async', {'script': text, 'args': list(arguments)})
        browser.call('POST', '/timeouts', {'script': 30000})
        browser.open(page)
        if fault := script(WATCH, url, token, port):
            sys.exit('FAULT: ' + fault)
        start = time.monotonic()
        while (at := time.monotonic() - start) < seconds:
            print(json.dumps({'at': round(at, 2), **script(SAMPLE)}), flush=True)
            time.sleep(.25)


main()
