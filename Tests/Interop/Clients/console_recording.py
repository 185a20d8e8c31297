#!/usr/bin/env python3
"""console_recording.py ADMIN-URL KEY-ID SECRET FOLDER: a stage is recorded, set up at the console in headless Chromium.

Somebody begins to publish on the stage demo when "the stage is recorded" is printed. Leaves a picture in FOLDER. Prints a line for
each thing seen; the exit status is 0 when all of them were.
"""
import sys

import webdriver
from console import Console, expect

ADMIN, KEY, SECRET, FOLDER = sys.argv[1:]
THUMBNAIL = 'document.querySelector("tr.session img.thumbnail")'


def set_up(console):
    browser = console.browser
    console.press('Add storage')
    console.fill('bucketName', 'recordings')
    console.answer()
    browser.wait('storage', 'document.querySelector("#storages li")?.textContent.includes("recordings")')
    console.press('Record', console.stage('demo') + ' header')
    browser.wait('question', 'document.querySelector("#ask-storage option[value^=arn]")')
    browser.run('document.querySelector("#ask-storage").value = document.querySelector("#ask-storage option[value^=arn]").value')
    console.fill('segment', '2')
    console.fill('pictures', '1')
    console.answer()
    browser.wait('recorded', '[...document.querySelectorAll(".stage .recorded")].some(chip => chip.textContent.includes("recordings"))')
    expect(True, 'the stage is recorded')


def look(console):
    browser = console.browser
    browser.wait('picture of who is live', THUMBNAIL + '?.checkVisibility() && %s.naturalWidth === 1280' % THUMBNAIL)
    expect(browser.run('return %s.alt' % THUMBNAIL).startswith('Latest picture of '), 'the latest picture of who is live')
    console.check('a stage with thumbnails')
    browser.screenshot(FOLDER + '/console-thumbnail.png')


with webdriver.chromium() as browser:
    console = Console(browser, ADMIN)
    console.sign_in(KEY, SECRET)
    set_up(console)
    look(console)
