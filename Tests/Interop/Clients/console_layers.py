#!/usr/bin/env python3
"""console_layers.py ADMIN-URL KEY-ID SECRET FOLDER: what the console shows of a session of three layers whose best one is paused
sooner or later.

Leaves a picture in FOLDER. Prints a line for each thing seen; the exit status is 0 when all of them were.
"""
import sys

import webdriver
from console import Console, expect

CHIPS = '[...document.querySelectorAll("tr.session .layer-chips li")].map(chip => chip.textContent).join()'
# Each row of the table: name, the encoder's own, picture, state.
ROWS = """[...document.querySelectorAll("tr.story .layers tbody tr")].map(row => [0, 1, 2, 5].map(
  cell => row.cells[cell].textContent).join(" ")).join()"""
# How often each curve has gone on, by its layer.
CURVES = """[...document.querySelectorAll("tr.story .layers svg path")].filter(
  path => path.getAttribute("d").split("L").length > 6).map(path => path.dataset.name).join()"""
STROKES = """return ["hi", "mid", "low"].map(name => getComputedStyle(document.querySelector(`.layers path.${name}`))).map(
  style => style.stroke + style.strokeDasharray)"""


def main():
    admin, key, secret, folder = sys.argv[1:]
    with webdriver.chromium() as browser:
        console = Console(browser, admin)
        console.sign_in(key, secret)
        expect(True, 'the overview, to which the session may come now')
        browser.wait('layers', CHIPS + ' === "hi 720p,mid 360p,low 180p"')
        expect(True, 'the layers of a session are there at a glance')
        browser.run('document.querySelector("tr.session button[aria-expanded]").focus()')
        browser.keys(webdriver.ENTER)
        browser.wait('table', ROWS + '.startsWith("hi 0 1280\u2009×\u2009720")')
        browser.wait('curves', CURVES + ' === "hi,mid,low"')
        expect(len(set(browser.run(STROKES))) == 3, 'each layer has a curve of its own colour and pattern')
        browser.wait('pause', CHIPS + ' === "hi 720p paused,mid 360p,low 180p"', seconds=200)
        rows = browser.run('return ' + ROWS).split(',')
        expect(rows == ['hi 0 1280\u2009×\u2009720 paused', 'mid 1 640\u2009×\u2009360 active', 'low 2 320\u2009×\u2009180 active'],
               'the table tells names, sizes, and which layer is paused')
        browser.wait('picture', 'document.querySelector("tr.session .picture .now").textContent.startsWith("640")')
        expect(True, 'the picture is that of the best layer that flows')
        console.check('a session with layers')
        browser.prefer('light')
        browser.resize(1100, 760)
        browser.screenshot(folder + '/console-layers.png')


main()
