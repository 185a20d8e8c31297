#!/usr/bin/env python3
"""watch_network.py URL: opens the watch page in headless Chromium and tells it, once it plays, that its connection is gone, and that its
session is out of reach at first. Waits until the picture goes on by new ICE credentials, and prints how many connections that took."""
import sys

import webdriver

KEEP_PEERS = """
window.peers = [];
const Native = RTCPeerConnection;
window.RTCPeerConnection = class extends Native { constructor(...given) { super(...given); peers.push(this); } };
"""
NETWORK_CHANGES = """
const peer = peers[0], before = peer.remoteDescription.sdp.match(/^a=ice-ufrag:(.*)$/m)[1];
const send = window.fetch;
let tries = 0;
window.fetch = (url, options) => {
  if (options?.method !== 'PATCH') return send(url, options);
  tries++;
  if (tries === 1) return Promise.resolve(new Response('', { status: 503 }));
  delete peer.connectionState;
  return send(url, options);
};
Object.defineProperty(peer, 'connectionState', { value: 'disconnected', configurable: true });
peer.onconnectionstatechange();
const look = setInterval(async () => {
  const stats = await peer.getStats();
  const pairs = [...stats.values()].filter(each => each.type === 'transport').map(each => stats.get(each.selectedCandidatePairId));
  const ufrag = stats.get(pairs[0]?.remoteCandidateId)?.usernameFragment;
  if (!ufrag || ufrag === before) return;
  clearInterval(look);
  window.wentAt = document.querySelector('video').currentTime;
}, 100);
"""
PLAYS = 'document.querySelector("video")?.currentTime > 1'
GOES_ON = 'window.wentAt && document.querySelector("video").currentTime > wentAt + 1'


def main():
    with webdriver.chromium() as browser:
        browser.devtools('Page.addScriptToEvaluateOnNewDocument', source=KEEP_PEERS)
        browser.open(sys.argv[1])
        browser.wait('picture', PLAYS)
        browser.run(NETWORK_CHANGES)
        browser.wait('picture by another way', GOES_ON)
        print('goes on, connections: %d' % browser.run('return peers.length'))


main()
