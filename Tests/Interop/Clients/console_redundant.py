#!/usr/bin/env python3
"""console_redundant.py ADMIN-URL KEY-ID SECRET: what the console shows of a participant of two encoders, and that a press makes the
other one the source.

Prints a line for each thing seen; the exit status is 0 when all of them were.
"""
import sys

import webdriver
from console import Console, expect

PLACE = 'tr.session .source:not([hidden])'
CHIPS = f'[...document.querySelectorAll("{PLACE} .chip")].map(chip => chip.textContent)'
BUTTONS = f'[...document.querySelectorAll("{PLACE} button:not([hidden])")]'
JOINED = f'[...document.querySelectorAll("{PLACE} .chip")].find(chip => chip.textContent.startsWith("from encoder"))'


def main():
    admin, key, secret = sys.argv[1:]
    with webdriver.chromium() as browser:
        console = Console(browser, admin)
        console.sign_in(key, secret)
        browser.wait('pair', f'{CHIPS}.length === 3 && {JOINED} && {BUTTONS}.length === 1')
        source = browser.run(f'return {JOINED}.textContent')[-1]
        other = '2' if source == '1' else '1'
        chips = sorted(browser.run('return ' + CHIPS))
        expect([chips[0][:9], chips[1][:9], chips[2]] == ['encoder 1', 'encoder 2', f'from encoder {source}'],
               f'each encoder is told, and which of them the stage gets: {chips}')
        browser.wait('button', f'{BUTTONS}[0]?.textContent === "Switch to encoder {other}"')
        browser.run(f'{BUTTONS}[0].focus()')
        browser.keys(webdriver.ENTER)
        browser.wait('switch', f'{JOINED}?.textContent === "from encoder {other}"')
        expect('order' in browser.run(f'return {JOINED}.title') or 'operator' in browser.run(f'return {JOINED}.title'),
               'the other one is the source at a press, and why stands beside it')
        browser.wait('back', f'{BUTTONS}[0]?.textContent === "Switch to encoder {source}"')
        console.check('a participant of two encoders')


main()
