#!/usr/bin/env python3
"""console_looks.py ADMIN-URL KEY-ID SECRET READER-ID READER-SECRET FOLDER: how the console looks, and to whom it shows what.

On a phone and on a desktop, in the light and in the dark; by its accessibility tree; and for a key that may only look. Leaves
pictures in FOLDER.
"""
import sys

import webdriver
from console import Console, expect

# Texts whose contrast is below 4.5 : 1 (WCAG 2.2, 1.4.3), with the ratio; half-transparent grounds are laid over what is behind.
FAINT = """
const parts = colour => { const p = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  p.fillStyle = colour; p.fillRect(0, 0, 1, 1); const [r, g, b, a] = p.getImageData(0, 0, 1, 1).data; return [r, g, b, a / 255]; };
const over = (top, ground) => [0, 1, 2].map(i => top[i] * top[3] + ground[i] * (1 - top[3]));
const ground = element => { if (!element) return [255, 255, 255];
  const own = parts(getComputedStyle(element).backgroundColor); return own[3] === 1 ? own.slice(0, 3) : over(own, ground(element.parentElement)); };
const light = colour => colour.map(value => value / 255).map(value => value <= .04045 ? value / 12.92 : ((value + .055) / 1.055) ** 2.4)
  .reduce((sum, value, i) => sum + value * [.2126, .7152, .0722][i], 0);
const ratio = element => { const back = ground(element);
  const [a, b] = [light(over(parts(getComputedStyle(element).color), back)), light(back)]; return (Math.max(a, b) + .05) / (Math.min(a, b) + .05); };
return [...document.querySelectorAll(arguments[0] + ' *')]
  .filter(e => e.checkVisibility() && !e.matches('option, svg *, button:disabled') && [...e.childNodes].some(n => n.nodeType === 3 && n.data.trim()))
  .filter(e => ratio(e) < 4.5).map(e => `${e.tagName}.${e.className} "${e.textContent.slice(0, 30)}" ${ratio(e).toFixed(2)}`);
"""
REFUSED = """
const [operation, done] = arguments;
import('/console/api.js').then(api => api.session().then(() => api.operation(operation, {}))).then(() => done('done'), error => done(error.message));
"""


def check(console, what, within='body'):
    browser = console.browser
    browser.wait('calm', 'document.getAnimations().length === 0')
    for scheme in ('light', 'dark'):
        browser.prefer(scheme)
        browser.wait('calm', 'document.getAnimations().length === 0')
        faint = browser.run(FAINT, within)
        expect(not faint, '%s is readable in the %s%s' % (what, scheme, ': %s' % faint if faint else ''))
    for width in (320, 390, 1100):
        browser.resize(width, 760, phone=width < 600)
        expect(console.is_within(width), '%s fits into %d pixels' % (what, width))
    nameless = console.nameless()
    expect(not nameless, '%s has a name for every control%s' % (what, nameless or ''))


def look_around(console, folder):
    browser = console.browser
    console.stage('demo')
    check(console, 'the overview')
    for words, what in [('Create stage', 'the question for a stage'), ('Import', 'the question for a public key')]:
        console.press(words)
        check(console, what, 'dialog')
        console.press('Cancel', 'dialog')
    for words, what in [('New stream key', 'the question for a stream key'), ('New token', 'the question for a token')]:
        console.press(words, console.stage('demo'))
        check(console, what, 'dialog')
        if words == 'New token':
            browser.prefer('dark')
            browser.resize(390, 760, phone=True)
            browser.photograph(folder + '/console-phone.png')
        console.answer() if words == 'New token' else console.press('Cancel', 'dialog')
    console.card('The token itself')
    check(console, 'a token\'s sheet', 'dialog')
    browser.keys('\ue00c')
    browser.wait('end of the sheet', '!document.querySelector("dialog")')
    expect(browser.run('return document.activeElement.textContent') == 'New token', 'Escape closes, and the focus is where it was')
    console.press('Show', console.stage('demo'))
    console.card('Larix Broadcaster by RTMPS')
    check(console, 'a stream key\'s sheet', 'dialog')
    console.close_sheet()
    browser.prefer('light')
    browser.screenshot(folder + '/console-stages.png')


def only_look(console, key, secret):
    """What an access key that is read-only is shown, and told."""
    browser = console.browser
    console.press('Sign out')
    browser.wait('form to sign in', '!document.querySelector("#sign-in").hidden')
    console.sign_in(key, secret)
    console.stage('demo')
    browser.wait('stream key', 'document.querySelector(".stage .key")')
    shown = browser.run('return [...document.querySelectorAll("button")].filter(b => b.checkVisibility()).map(b => b.textContent)')
    expect(shown == ['Sign out'], 'a read-only key sees stages and stream keys, and no button that changes anything')
    for operation in ('CreateStage', 'DeleteStage', 'CreateParticipantToken', 'ImportPublicKey', 'UpdateIngestConfiguration'):
        answer = browser.call('POST', '/execute/async', {'script': REFUSED, 'args': [operation]})
        expect(answer == 'This access key may only Get and List.', '%s is refused to it' % operation)


def main():
    admin, key, secret, reader, reader_secret, folder = sys.argv[1:]
    with webdriver.chromium(limit=300) as browser:
        console = Console(browser, admin)
        console.sign_in(key, secret)
        look_around(console, folder)
        only_look(console, reader, reader_secret)


main()
