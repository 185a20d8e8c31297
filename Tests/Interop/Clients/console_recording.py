#!/usr/bin/env python3
"""console_recording.py ADMIN-URL KEY-ID SECRET FOLDER [later]: a stage is recorded, set up at the console in headless Chromium.

Somebody begins to publish on the stage demo when "the stage is recorded" is printed; with "later" sound alone, and pictures when "sound
alone plays" is. Leaves a picture in FOLDER. Prints a line for each thing seen; the exit status is 0 when all of them were.
"""
import sys
import time

import webdriver
from console import Console, expect

ADMIN, KEY, SECRET, FOLDER, *LATER = sys.argv[1:]
DESCRIBED = r'/^0:[0-9]+ · [0-9]+ MiB · avc1/.test(document.querySelector(".recordings small")?.textContent)'
HEARD = r'/^0:[0-9]+ · .* · opus$/.test(document.querySelector(".recordings small")?.textContent)'
VIDEO = 'document.querySelector(".recordings video")'
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


def open_list(console, described=DESCRIBED):
    """Opens the list of recordings when a segment of one is stored, with its length and size."""
    browser, end = console.browser, time.monotonic() + 120
    while time.monotonic() < end:
        console.press('Recordings', console.stage('demo') + ' header')
        browser.wait('list', '[...document.querySelectorAll("dialog .recordings small:first-of-type")].every(each => each.textContent !== "…")')
        if browser.run('return ' + described):
            return
        console.close_sheet()
        time.sleep(1)
    raise SystemExit('FAULT: no recording with a segment')


def start(console):
    open_list(console)
    console.press('Play', '.recordings')
    console.browser.wait('pictures', 'document.querySelector(".recordings video")?.videoWidth === 1280', seconds=120)


def watch(console):
    """Plays the recording until pictures have come for two seconds, and its beginning again."""
    browser = console.browser
    start(console)
    expect(browser.run('return document.querySelector(".recordings video").src.startsWith("blob:")'), 'Media Source it is')
    browser.wait('two seconds of it', 'document.querySelector(".recordings video").currentTime > 2', seconds=120)
    expect(not browser.text('.recordings .fault'), 'a recording plays')
    browser.run('document.querySelector(".recordings video").currentTime = 0')
    browser.wait('the beginning again', 'document.querySelector(".recordings video").currentTime > 1', seconds=120)


def watch_later(console):
    """Plays sound alone, the pictures that follow it, and its beginning again: another source each time."""
    browser = console.browser
    open_list(console, HEARD)
    console.press('Play', '.recordings')
    browser.wait('sound', VIDEO + '?.currentTime > 0.5 && %s.videoWidth === 0' % VIDEO, seconds=120)
    expect(True, 'sound alone plays')
    browser.wait('pictures', VIDEO + '.videoWidth > 0', seconds=120)
    begun = browser.run('return %s.currentTime' % VIDEO)
    browser.wait('two seconds of them', VIDEO + '.currentTime > arguments[0]', begun + 2, seconds=120)
    browser.run(VIDEO + '.currentTime = 0')
    browser.wait('the beginning', VIDEO + '.videoWidth === 0 && %s.currentTime > 0.5' % VIDEO, seconds=120)
    expect(not browser.text('.recordings .fault'), 'pictures that follow sound alone play')


with webdriver.chromium() as browser:
    console = Console(browser, ADMIN)
    console.sign_in(KEY, SECRET)
    set_up(console)
    if LATER:
        watch_later(console)
        sys.exit()
    look(console)
    watch(console)
    console.check('a recording', 'dialog')
    browser.screenshot(FOLDER + '/console-recording.png')
    console.close_sheet()
    browser.run('delete window.ManagedMediaSource; delete window.MediaSource')
    start(console)
    source = browser.run('return document.querySelector(".recordings video").src')
    expect(source.endswith('/multivariant.m3u8'), "the browser's own player has pictures")
    console.close_sheet()
