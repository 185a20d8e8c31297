#!/usr/bin/env python3
"""watch_sound.py URL: opens the watch page in headless Chromium, waits until somebody plays, and prints the picture's width."""
import sys

import webdriver


def main():
    with webdriver.chromium() as browser:
        browser.open(sys.argv[1])
        browser.wait('sound', '[...document.querySelectorAll("video")].some(video => video.currentTime > 1)', seconds=60)
        print('plays, %d wide' % browser.run('return document.querySelector("video").videoWidth'))


main()
