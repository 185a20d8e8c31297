#!/usr/bin/env python3
"""publish_page.py PAGE-URL TOKEN WANTED: opens the publish page in headless Chromium, presses Start, waits until its log has
WANTED, and prints the log.

Environment: SOURCE is what is published, a test pattern unless said otherwise. WITHOUT=H264 makes the browser one that has no H.264, as
Firefox is before it has fetched OpenH264; WITHOUT=screen one of a phone, WITHOUT=permission one that may use no camera,
WITHOUT=network one that reaches nobody.
STOP_UNANSWERED=1 presses Stop once it is published, and nobody answers; the log has "sources are off" when they are.
SOURCE_ENDS=1 ends the picture once it is published, as the browser's button does that ends the sharing of a screen.
NETWORK_CHANGES=1 tells the page that its connection is gone, and that its session is out of reach at first; the log has "went another
way" once its new ICE credentials are answered.
"""
import os
import sys
import urllib.parse

import webdriver
from network_change import network_change

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
WITHOUT_PERMISSION = """
navigator.mediaDevices.getUserMedia = async () => { throw new DOMException('Permission denied', 'NotAllowedError'); };
"""
WITHOUT = {
    'H264': WITHOUT_H264, 'permission': WITHOUT_PERMISSION, 'screen': 'delete MediaDevices.prototype.getDisplayMedia;',
    'network': "window.fetch = async () => { throw new TypeError('Load failed'); };",
}
STOP_UNANSWERED = """
const tracks = stream.getTracks();
window.fetch = () => new Promise(() => {});
$('stop').click();
if (tracks.every(track => track.readyState === 'ended')) log('sources are off');
"""
SOURCE_ENDS = "stream.getVideoTracks()[0].dispatchEvent(new Event('ended'))"
NETWORK_CHANGES = network_change(
    'connection', done="log('went another way')",
    is_seen="document.getElementById('log').textContent.includes('looking for another way')")
LOGGED = "document.getElementById('log').textContent.includes(arguments[0])"


def main():
    page, token, wanted = sys.argv[1:]
    with webdriver.chromium() as browser:
        browser.open(page + '#' + urllib.parse.urlencode({'token': token, 'source': os.environ.get('SOURCE', 'pattern')}))
        if 'WITHOUT' in os.environ:
            browser.run(WITHOUT[os.environ['WITHOUT']])
        browser.click('#start')
        if 'STOP_UNANSWERED' in os.environ:
            browser.wait('publish', LOGGED, 'published')
            browser.run(STOP_UNANSWERED)
        if 'SOURCE_ENDS' in os.environ:
            browser.wait('publish', LOGGED, 'published')
            browser.run(SOURCE_ENDS)
        if 'NETWORK_CHANGES' in os.environ:
            browser.wait('connection', LOGGED, 'connection connected')
            browser.run(NETWORK_CHANGES)
        browser.wait(wanted, LOGGED, wanted)
        print(browser.text('#log'))


main()
