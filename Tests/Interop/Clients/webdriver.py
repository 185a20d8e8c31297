"""A headless Chromium by chromedriver's HTTP API, with the standard library alone."""
import base64
import contextlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

ARGUMENTS = [
    '--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--hide-scrollbars',
    '--disable-background-networking', '--disable-component-update', '--disable-sync', '--proxy-server=direct://',
]
ENTER = '\ue007'
TAB = '\ue004'


class Browser:
    def __init__(self, base, session):
        self.base = '%s/session/%s' % (base, session)

    def call(self, method, path, body=None):
        # As long as `wait`: a page's first load may take minutes on a machine that is busy with others.
        return request(method, self.base + path, body, timeout=180)

    def open(self, url):
        self.call('POST', '/url', {'url': url})

    def run(self, script, *arguments):
        return self.call('POST', '/execute/sync', {'script': script, 'args': list(arguments)})

    def text(self, selector):
        return self.run('return document.querySelector(arguments[0])?.textContent ?? ""', selector)

    def click(self, selector):
        self.run('document.querySelector(arguments[0]).click()', selector)

    def keys(self, text):
        """Presses keys where the focus is."""
        actions = [{'type': kind, 'value': key} for key in text for kind in ('keyDown', 'keyUp')]
        self.call('POST', '/actions', {'actions': [{'type': 'key', 'id': 'keyboard', 'actions': actions}]})

    def fill(self, selector, text):
        self.run('document.querySelector(arguments[0]).focus()', selector)
        self.keys(text)

    def wait(self, what, script, *arguments, seconds=180):
        """For as long as a machine that is busy with others may take; then the test ends with what the page says and has loaded."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if self.run('return Boolean(%s)' % script, *arguments):
                return
            time.sleep(.1)
        loaded = self.run(
            'return [document.readyState, ...performance.getEntriesByType("resource").map('
            'each => each.name.split("/").pop().split("?")[0] + " " + each.responseStatus)].join(", ")')
        raise SystemExit('FAULT: no %s within %d s; %s; the page says:\n%s' % (what, seconds, loaded, self.text('body')))

    def devtools(self, command, **parameters):
        return self.call('POST', '/goog/cdp/execute', {'cmd': command, 'params': parameters})

    def prefer(self, scheme):
        self.devtools('Emulation.setEmulatedMedia', features=[{'name': 'prefers-color-scheme', 'value': scheme}])

    def resize(self, width, height, phone=False):
        self.devtools('Emulation.setDeviceMetricsOverride', width=width, height=height, deviceScaleFactor=1, mobile=phone)

    def screenshot(self, path):
        """The whole page, as high as it is."""
        height = min(3000, self.run('return document.documentElement.scrollHeight'))
        clip = {'x': 0, 'y': 0, 'width': self.run('return innerWidth'), 'height': max(700, height), 'scale': 1}
        self.save(path, self.devtools('Page.captureScreenshot', captureBeyondViewport=True, clip=clip))

    def photograph(self, path):
        """What is in the window, no more."""
        self.save(path, self.devtools('Page.captureScreenshot'))

    def save(self, path, picture):
        with open(path, 'wb') as file:
            file.write(base64.b64decode(picture['data']))

    def traffic(self):
        """What went over the network since it was last asked, as one text."""
        return '\n'.join(entry['message'] for entry in self.call('POST', '/se/log', {'type': 'performance'}))


def request(method, url, body=None, timeout=60):
    data = json.dumps(body).encode() if body is not None else None
    asked = urllib.request.Request(url, data, {'Content-Type': 'application/json'}, method=method)
    return json.load(urllib.request.urlopen(asked, timeout=timeout))['value']


@contextlib.contextmanager
def driver():
    """The address of a chromedriver that goes with this script, however that ends, and takes its browsers along."""
    # The end of its input, which a kill of ours brings about too, ends the shell's whole group.
    line = '{ chromedriver --port=0 2>/dev/null; echo gone; } & read _; kill -KILL 0'
    server = subprocess.Popen(['sh', '-c', line], stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
    try:
        yield 'http://127.0.0.1:' + port(server.stdout)
    finally:
        server.stdin.close()
        server.wait()


def port(output, seconds=60):
    """What chromedriver says that it listens at. It gives up where the port it chose for IPv4 is taken for IPv6."""
    said, end = b'', time.monotonic() + seconds
    while time.monotonic() < end and b'gone' not in said:
        if select.select([output], [], [], 1)[0]:
            said += os.read(output.fileno(), 4096)
        if found := re.search(rb'successfully on port (\d+)', said):
            return found[1].decode()
    raise NoDriver(said.decode(errors='replace'))


class NoDriver(Exception):
    pass


def begin(stack, wanted, attempts=3):
    """A driver's address and its session, which end with the stack. A browser that does not come up is followed by another one."""
    for _ in range(attempts):
        with contextlib.ExitStack() as started:
            try:
                base = started.enter_context(driver())
                session = request('POST', base + '/session', {'capabilities': {'alwaysMatch': wanted}})['sessionId']
            except (NoDriver, OSError) as error:
                print('no browser:', error, file=sys.stderr)
                continue
            stack.push(started.pop_all())
            return base, session
    raise SystemExit('FAULT: no browser came up')


@contextlib.contextmanager
def chromium(limit=400):
    """A browser that is gone afterwards, and after `limit` seconds in any case."""
    # Whoever started us may have all signals blocked, which chromedriver would inherit.
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.signal(signal.SIGALRM, lambda *_: sys.exit('FAULT: not done within %d s' % limit))
    signal.alarm(limit)
    profile = tempfile.mkdtemp()
    try:
        with contextlib.ExitStack() as stack:
            options = {'args': ARGUMENTS + ['--user-data-dir=' + profile, '--window-size=1440,900']}
            yield Browser(*begin(stack, {'goog:chromeOptions': options, 'goog:loggingPrefs': {'performance': 'ALL'}}))
    finally:
        signal.alarm(0)
        shutil.rmtree(profile, ignore_errors=True)
