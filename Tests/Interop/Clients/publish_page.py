#!/usr/bin/env python3
"""publish_page.py PAGE-URL TOKEN WANTED: opens the publish page in headless Chromium, presses Start, waits until its log has
WANTED, and prints the log.

Environment: WITHOUT_H264=1 makes the browser one that has no H.264, as Firefox is before it has fetched OpenH264.
"""
import os
import sys
import urllib.parse

import webdriver

WITHOUT_H264 = """
const all = RTCRtpSender.getCapabilities.bind(RTCRtpSender);
RTCRtpSender.getCapabilities = kind => ({ ...all(kind), codecs: all(kind).codecs.filter(codec => !/H264/i.test(codec.mimeType)) });
const add = RTCPeerConnection.prototype.addTransceiver;
RTCPeerConnection.prototype.addTransceiver = function (track, options) {
  const transceiver = add.call(this, track, options);
  if (track.kind === 'video') transceiver.setCodecPreferences(RTCRtpSender.getCapabilities('video').codecs);
  return transceiver;
};
"""


def main():
    page, token, wanted = sys.argv[1:]
    with webdriver.chromium() as browser:
        browser.open(page + '#' + urllib.parse.urlencode({'token': token, 'source': 'pattern'}))
        if 'WITHOUT_H264' in os.environ:
            browser.run(WITHOUT_H264)
        browser.click('#start')
        browser.wait(wanted, "document.getElementById('log').textContent.includes(arguments[0])", wanted)
        print(browser.text('#log'))


main()
