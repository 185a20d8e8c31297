#!/usr/bin/env python3
"""watch_network.py URL: opens the watch page in headless Chromium and tells it, once it plays, that its connection is gone, and that its
session is out of reach at first. Waits until the picture goes on by new ICE credentials, and prints how many connections that took."""
import sys

import webdriver
from network_change import network_change

KEEP_PEERS = """
window.peers = [];
const Native = RTCPeerConnection;
window.RTCPeerConnection = class extends Native { constructor(...given) { super(...given); peers.push(this); } };
"""
NETWORK_CHANGES = network_change('peers[0]', done="window.wentAt = document.querySelector('video').currentTime")
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
