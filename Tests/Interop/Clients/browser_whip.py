#!/usr/bin/env python3
"""browser_whip.py SECONDS PAGE-URL TOKEN SOURCE: publishes from the gateway's own page in headless Chromium.

Opens PAGE-URL#token=TOKEN&source=SOURCE (pattern, camera, back),
presses Start, waits, presses Stop, and prints the page's log and what the browser says it sent.
Environment: LAYERS=1|2|3 makes the page send simulcast; VIDEO=later offers video and sends none: each SIGUSR1 begins or mutes it.
SIGUSR2 ends it before its time.
"""
import contextlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

import webdriver

ARGUMENTS = [
    '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run',
    '--use-fake-device-for-media-stream', '--use-fake-ui-for-media-stream', '--autoplay-policy=no-user-gesture-required',
    '--disable-background-networking', '--disable-component-update', '--disable-sync', '--proxy-server=direct://',
    '--disable-features=WebRtcHideLocalIpsWithMdns,MediaRouter,OptimizationHints',
    # Quickstart's authority is not the browser's. The driver's own way to say so takes hold some moments after the start.
    '--ignore-certificate-errors',
]
SIMULCAST = """
const layers = [{rid: 'h'}, {rid: 'm', scaleResolutionDownBy: 2}, {rid: 'l', scaleResolutionDownBy: 4}].slice(0, %s);
const add = RTCPeerConnection.prototype.addTransceiver;
RTCPeerConnection.prototype.addTransceiver = function (track, options) {
  return add.call(this, track, track.kind === 'video' ? {...options, sendEncodings: layers} : options);
};
"""
WITHHOLD = """
const add = RTCPeerConnection.prototype.addTransceiver;
RTCPeerConnection.prototype.addTransceiver = function (track, options) {
  if (track.kind !== 'video') return add.call(this, track, options);
  const transceiver = add.call(this, 'video', options);
  window.toggleVideo = () => transceiver.sender.replaceTrack(transceiver.sender.track ? null : track);
  return transceiver;
};
"""
STATISTICS = """
const done = arguments[0];
connection.getStats().then(report => {
  const sent = [];
  report.forEach(s => { if (s.type === 'outbound-rtp') sent.push([s.kind, s.packetsSent, s.framesEncoded, s.frameHeight, s.nackCount, s.pliCount, s.rid || '']); });
  done(JSON.stringify(sent));
}, error => done(String(error)));
"""


orders = []


class Driver:
    def __init__(self, base):
        self.base = base

    def call(self, method, path, body=None, timeout=180):
        data = json.dumps(body).encode() if body is not None else None
        request = urllib.request.Request(self.base + path, data, {'Content-Type': 'application/json'}, method=method)
        try:
            return json.load(urllib.request.urlopen(request, timeout=timeout))['value']
        except urllib.error.HTTPError as error:
            raise RuntimeError('%s: %s' % (path, error.read()[:600])) from error

    def script(self, session, text, kind='sync'):
        return self.call('POST', '/session/%s/execute/%s' % (session, kind), {'script': text, 'args': []})


def visit(driver, session, address):
    """Until the page is there: a browser whose network has changed just now shows a page of its own for it."""
    end = time.time() + 120
    while True:
        try:
            driver.call('POST', '/session/%s/url' % session, {'url': address})
            if driver.script(session, "return document.getElementById('start') !== null"):
                return
            print('no page:', driver.script(session, 'return document.title'), flush=True)
        except RuntimeError as error:
            print('no page:', str(error)[:300].split('#token')[0], flush=True)
        if time.time() > end:
            raise RuntimeError('the page did not come')
        time.sleep(.5)


def publish(driver, session, seconds):
    if 'LAYERS' in os.environ:
        driver.script(session, SIMULCAST % os.environ['LAYERS'])
    if os.environ.get('VIDEO') == 'later':
        driver.script(session, WITHHOLD)
    driver.script(session, "document.getElementById('start').click()")
    end = time.time() + 120
    while time.time() < end:
        log = driver.script(session, "return document.getElementById('log').textContent")
        if 'connected' in log or 'error' in log:
            break
        time.sleep(.2)
    end = time.time() + (seconds if 'connected' in log else 0)
    heights = []
    while time.time() < end and signal.SIGUSR2 not in orders:
        if signal.SIGUSR1 in orders:
            orders.remove(signal.SIGUSR1)
            driver.script(session, 'toggleVideo()')
        time.sleep(min(.25, max(0, end - time.time())))
        heights += [row[3] for row in json.loads(driver.script(session, STATISTICS, 'async')) if row[0] == 'video' and row[3]]
    if 'connected' in log:
        print('heights', *[height for height, before in zip(heights, [0] + heights) if height != before])
        print('sent', driver.script(session, STATISTICS, 'async'))
    driver.script(session, "document.getElementById('stop').click()")
    print(last_words(driver, session))


def last_words(driver, session):
    """The page's log once its DELETE has been answered, or after two minutes."""
    end = time.time() + 120
    while True:
        log = driver.script(session, "return document.getElementById('log').textContent")
        if 'stopped' in log or time.time() > end:
            return log
        time.sleep(.1)


def main():
    # Whoever started us may have all signals blocked, which chromedriver would inherit.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    for order in signal.SIGUSR1, signal.SIGUSR2:
        signal.signal(order, lambda number, _: orders.append(number))
    seconds, url, token, source = float(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4]
    signal.signal(signal.SIGALRM, lambda *_: sys.exit('not done in time'))
    signal.alarm(int(seconds) + 400)
    profile = tempfile.mkdtemp()
    try:
        with contextlib.ExitStack() as stack:
            options = {'args': ARGUMENTS + ['--user-data-dir=' + profile]}
            base, session = webdriver.begin(stack, {'goog:chromeOptions': options, 'acceptInsecureCerts': True})
            driver = Driver(base)
            driver.call('POST', '/session/%s/timeouts' % session, {'script': 60000})
            fragment = urllib.parse.urlencode({'token': token, 'source': source})
            visit(driver, session, url + '#' + fragment)
            publish(driver, session, seconds)
    finally:
        signal.alarm(0)
        shutil.rmtree(profile, ignore_errors=True)


main()
