#!/usr/bin/env python3
"""console_page.py ADMIN-URL KEY-ID SECRET PARTICIPANT FOLDER: an operator's hour at the console, in headless Chromium.

Somebody publishes as PARTICIPANT, and an encoder was refused for its B-frames. Leaves pictures in FOLDER. Prints a line for each
thing seen; the exit status is 0 when all of them were.
"""
import http.server
import json
import sys
import threading
import urllib.error
import urllib.request

import webdriver
from console import expect


def status(url, method='GET', headers=None, body=None):
    asked = urllib.request.Request(url, body, headers or {}, method=method)
    try:
        return urllib.request.urlopen(asked, timeout=60).status
    except urllib.error.HTTPError as error:
        return error.code


def sign_in(browser, admin, key, secret):
    browser.open(admin + '/')
    browser.wait('form to sign in', '!document.querySelector("#sign-in").hidden')
    expect(browser.run('return document.activeElement.id') == 'access-key', 'the first field has the focus')
    browser.keys(key + webdriver.TAB + 'not-the-secret' + webdriver.ENTER)
    browser.wait('refusal', 'document.querySelector("#sign-in-fault").textContent.includes("signature is wrong")')
    expect(True, 'a wrong secret is refused in words')
    browser.run('document.querySelector("#secret").value = ""')
    browser.fill('#secret', secret + webdriver.ENTER)
    browser.wait('overview', '!document.querySelector("#overview").hidden')
    expect(secret not in browser.traffic(), 'the secret was never sent')
    expect(not browser.run('return document.cookie'), 'scripts cannot read the cookie')


# Whether one of the rows has these cells.
ROW = '[...document.querySelectorAll(arguments[0])].some(row => [...row.cells].map(cell => cell.textContent).join("|") === arguments[1])'


def look(browser, participant, folder):
    browser.wait('participant', 'document.querySelector("tr.session")?.textContent.includes(arguments[0])', participant)
    browser.wait('bitrate', '/[kM]bit/.test(document.querySelector("tr.session .gauge .now").textContent)')
    browser.wait('frame rate', 'parseFloat(document.querySelectorAll("tr.session .gauge .now")[1].textContent) > 0')
    browser.wait('curve', 'document.querySelector("tr.session .line").getAttribute("d").split("L").length > 6')
    browser.wait('sentence', '/SD-10\\d\\d.*B-frames/.test(document.querySelector("#refused").textContent)')
    expect(True, 'the stage, its participant with curves, and the refusal with its sentence')
    expect('demo' in browser.text('.stage h3'), 'the stage has its name')
    expect('1280\u2009×\u2009720' in browser.text('tr.session .picture'), 'the picture has its size')
    expect('local' in browser.text('#routers'), 'the router')
    expect(browser.text('#phase') == 'serving', 'the node serves')
    browser.run('document.querySelector("tr.session button[aria-expanded]").focus()')
    browser.keys(webdriver.ENTER)
    browser.wait('story', '/accepted.*handshake done.*granted.*first keyframe/.test(document.querySelector(".steps").textContent)')
    expect(True, 'a key opens the story, which has its steps')
    browser.wait('rules', ROW, 'tr.story .rules tr', 'b frames|none|none|ok|-bf 0')
    browser.run('document.querySelector("#refused details").open = true')
    browser.wait('rules', ROW, '#refused .rules tr', 'b frames|none|2 B-frames|not ok|-bf 0')
    expect(True, 'each rule of the live and of the refused session, with what was seen and the setting')
    for scheme in ('light', 'dark'):
        browser.prefer(scheme)
        browser.wait('calm', 'document.getAnimations().length === 0')
        browser.screenshot('%s/console-%s.png' % (folder, scheme))


def forge(browser, admin, cookie):
    """What pages of other origins, and scripts without the session's token, can do: nothing."""
    origin = admin.replace('127.0.0.1', 'attacker.example')
    signed_in = {'Cookie': cookie}
    expect(status(admin + '/v1/overview', headers=signed_in) == 200, 'the cookie reads')
    expect(status(admin + '/v1/overview') == 403, 'nobody reads without it')
    expect(status(admin + '/v1/overview', headers={**signed_in, 'Origin': origin}) == 403, 'a foreign Origin is refused')
    expect(status(admin + '/v1/overview', headers={**signed_in, 'Sec-Fetch-Site': 'cross-site'}) == 403, 'another site is refused')
    expect(status(admin + '/', headers={'Host': 'attacker.example'}) == 403, 'a foreign Host gets no page')
    expect(status(admin + '/v1/drain', 'POST', signed_in) == 403, 'without the token of the session nothing is changed')

    class Page(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header('Content-Type', 'text/html')
            self.end_headers()
            self.wfile.write(b'<title>elsewhere</title>')

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(('127.0.0.1', 0), Page)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser.open('http://localhost:%d/' % server.server_port)
    attempt = """
      const done = arguments[arguments.length - 1];
      fetch(arguments[0] + '/v1/drain', {method: 'POST', mode: 'no-cors', credentials: 'include'}).then(() => done('sent'), () => done('failed'));
    """
    answer = browser.call('POST', '/execute/async', {'script': attempt, 'args': [admin]})
    server.shutdown()
    browser.open(admin + '/')
    browser.wait('overview', 'document.querySelector("#phase").textContent === "serving"')
    expect(True, 'a page of another origin tried to drain (%s), and the node still serves' % answer)


def act(browser, participant):
    browser.wait('participant', 'document.querySelector("tr.session .cut")')
    browser.click('#drain')
    browser.click('#ask-yes')
    browser.wait('drain', 'document.querySelector("#phase").textContent === "draining"')
    browser.wait('way back', 'document.querySelector("#drain").textContent === "Stop draining"')
    browser.click('#drain')
    browser.wait('end of it', 'document.querySelector("#phase").textContent === "serving"')
    expect(True, 'the button drains, and takes it back')
    browser.click('tr.session .cut')
    browser.wait('question', 'document.querySelector("#ask-reason")')
    browser.fill('#ask-reason', 'The show is over' + webdriver.ENTER)
    browser.wait('end', '!document.querySelector("tr.session")')
    browser.wait('its verdict', 'document.querySelector("#ended").textContent.includes(arguments[0])', participant)
    expect('The show is over' in browser.text('#ended'), 'the publish was disconnected with the reason')


def main():
    admin, key, secret, participant, folder = sys.argv[1:]
    with webdriver.chromium() as browser:
        browser.prefer('light')
        sign_in(browser, admin, key, secret)
        look(browser, participant, folder)
        cookie = next(item for item in browser.call('GET', '/cookie') if item['name'].startswith('stagedoor_console_'))
        sent = '%(name)s=%(value)s' % cookie
        expect(cookie['httpOnly'] and cookie['sameSite'] == 'Strict', 'the cookie is HttpOnly and SameSite=Strict')
        forge(browser, admin, sent)
        act(browser, participant)
        browser.click('#sign-out')
        browser.wait('form to sign in', '!document.querySelector("#sign-in").hidden')
        browser.screenshot(folder + '/console-sign-in.png')
        expect(status(admin + '/v1/overview', headers={'Cookie': sent}) == 403, 'signed out is out')
        expect(secret not in json.dumps(browser.traffic()), 'the secret was never sent')


main()
