#!/usr/bin/env python3
"""console_walk.py ADMIN-URL KEY-ID SECRET FOLDER: from an empty platform to a watched stream, in a browser alone.

Leaves pictures in FOLDER. Prints a line for each thing seen; the exit status is 0 when all of them were.
"""
import subprocess
import sys
import tempfile
import urllib.parse

import webdriver
from console import Console, expect

PLAYING = 'document.querySelector("video")?.videoWidth > 0 && document.querySelector("video").currentTime > 1'


def empty(console):
    """Takes away what quickstart made: after that the platform is as it is where nobody made anything."""
    browser = console.browser
    console.press('Delete', console.stage('demo') + ' header')
    console.answer()
    browser.wait('no stage', '!document.querySelector(".stage") && !document.querySelector("#stages-empty").hidden')
    console.press('Delete', '#loose-keys')
    console.answer()
    browser.wait('no stream key', 'document.querySelector("#loose").hidden')
    expect('There is no stage yet' in browser.text('#stages-empty'), 'the platform is empty')


def create_stage(console):
    """By the keyboard alone, and with a name that is refused first."""
    browser = console.browser
    browser.run('document.querySelector("h1").tabIndex = -1; document.querySelector("h1").focus()')
    for _ in range(12):
        browser.keys(webdriver.TAB)
        if browser.run('return document.activeElement.id') == 'create-stage':
            break
    browser.keys(webdriver.ENTER)
    browser.wait('question', 'document.activeElement.id === "ask-name"')
    browser.keys('my show' + webdriver.ENTER)
    browser.wait('refusal', 'document.querySelector("#ask .fault[role=alert]").textContent')
    expect('name must be at most 128 of the characters' in browser.text('#ask .fault'), 'a refused name keeps the question, with the words of the API')
    browser.keys('\ue003' * 5 + '-show' + webdriver.ENTER)
    console.stage('my-show')
    expect(browser.run('return document.activeElement.id') == 'create-stage', 'keys alone make a stage, and the focus is where it was')
    expect('The stage is made' in browser.text('#done[role=status]'), 'it is said aloud')


def create_key(console, folder):
    """Makes a stream key, and answers with the line that the card copies."""
    browser = console.browser
    console.press('New stream key', console.stage('my-show'))
    console.fill('name', 'camera')
    console.choose('ingestProtocol', 'RTMP')
    console.fill('userId', 'anna')
    console.fill('attributes', 'seat=left')
    console.answer()
    command = console.card('ffmpeg by RTMP')
    key = console.card('OBS by RTMP') and browser.run('return document.querySelectorAll("dialog .field input")[1].value')
    expect(key.startswith('rt_') and key in command, 'the key is shown, and stands in the line for ffmpeg')
    expect('\n' not in command and '\\' not in command, 'which is one, as the shells of all systems take it')
    browser.devtools('Browser.grantPermissions', permissions=['clipboardReadWrite', 'clipboardSanitizedWrite'])
    browser.click('dialog [aria-label="Copy Command (ffmpeg by RTMP)"]')
    browser.wait('word of it', 'document.querySelector("dialog [role=status]").textContent === "Copied: Command."')
    copied = browser.call('POST', '/execute/async', {'script': 'navigator.clipboard.readText().then(arguments[0])', 'args': []})
    expect(copied == command, 'the line is on the clipboard')
    override = console.card('OBS 32, settings and all')
    expect(key in override and 'encoder_configurations' in override, 'what OBS takes whole is there to be copied')
    browser.photograph(folder + '/console-stream-key.png')
    expect(not console.nameless(), 'everything in the sheet has a name')
    console.close_sheet()
    expect(key not in browser.run('return document.documentElement.outerHTML'), 'the key has left the page')
    console.press('Show', console.stage('my-show') + ' .key')
    expect(key in console.card('ffmpeg by RTMP'), 'on request it is shown again')
    console.close_sheet()
    return copied


def check_code(console, title, text):
    """What ZBar reads on the screen."""
    with tempfile.NamedTemporaryFile(suffix='.png') as picture:
        console.browser.run('document.querySelector("dialog details[open] svg").scrollIntoView()')
        console.browser.photograph(picture.name)
        read = subprocess.run(['zbarimg', '-q', '--raw', picture.name], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    expect(read.stdout.decode().strip() == text, 'the QR code of "%s" is read from the screen' % title)


def follow_link(console):
    """Follows the open card's link with the keyboard, into a tab of its own; answers with the console's tab."""
    browser = console.browser
    own, known = browser.call('GET', '/window'), browser.call('GET', '/window/handles')
    browser.run('document.querySelector("dialog details[open] a").focus()')
    browser.keys(webdriver.ENTER)
    opened = next(handle for handle in browser.call('GET', '/window/handles') if handle not in known)
    browser.call('POST', '/window', {'handle': opened})
    return own


def back(console, own):
    console.browser.call('DELETE', '/window')
    console.browser.call('POST', '/window', {'handle': own})


def watch(console, folder, picture):
    browser = console.browser
    console.press('Watch', console.stage('my-show'))
    link = console.card('Watch in a browser')
    check_code(console, 'Watch in a browser', link)
    expect(urllib.parse.urlsplit(link).fragment.startswith('token='), 'the token stands in the fragment, which no server sees')
    own = follow_link(console)
    browser.wait('moving picture', PLAYING)
    browser.photograph('%s/%s' % (folder, picture))
    expect(True, 'the stream is watched by the link')
    back(console, own)
    console.close_sheet()


def publish_by_ffmpeg(console, command, folder):
    browser = console.browser
    stage = console.stage('my-show')
    with tempfile.TemporaryFile() as output:
        encoder = subprocess.Popen(['bash', '-c', command], stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        try:
            browser.wait('publisher', 'document.querySelector(arguments[0] + " tr.session")', stage)
            browser.wait('picture', 'document.querySelector(".session .picture").textContent.includes("1280")')
            browser.wait('state', 'document.querySelector(arguments[0] + " .key .state").textContent === "live"', stage)
            expect('anna' in browser.text('tr.session'), 'ffmpeg publishes by the copied line')
            for width in (390, 1100):
                browser.resize(width, 760, phone=width < 600)
                expect(console.is_within(width), 'somebody who is live fits into %d pixels' % width)
            browser.screenshot(folder + '/console-live.png')
            watch(console, folder, 'console-watched.png')
            console.press('Delete', stage + ' .key')
            browser.click('#ask-yes')
            browser.wait('refusal', 'document.querySelector("#ask .fault").textContent')
            expect('is publishing' in browser.text('#ask .fault'), 'a key in use is not deleted, in the words of the API')
            console.press('Cancel', '#ask')
            console.press('Disconnect', stage)
            console.fill('reason', 'That was it')
            console.answer()
            expect(encoder.wait(timeout=120) is not None, 'ffmpeg is cut off')
        finally:
            encoder.kill()
        output.seek(0)
        expect(b'That was it' in output.read(), 'and told why')
    browser.wait('key without a stage', '!document.querySelector("#loose").hidden')
    expect('camera' in browser.text('#loose-keys'), 'its key is on no stage any more')


def publish_by_link(console, folder):
    browser = console.browser
    console.press('New token', console.stage('my-show'))
    console.fill('duration', '99999')
    browser.click('#ask-yes')
    browser.wait('refusal', 'document.querySelector("#ask .fault").textContent')
    expect('duration must be a whole number from 1 to 20160' in browser.text('#ask .fault'), 'too long a token is refused in words')
    console.fill('duration', '30')
    console.fill('userId', 'bert')
    console.answer()
    link = console.card('Publish from a browser')
    check_code(console, 'Publish from a browser', link)
    browser.photograph(folder + '/console-token.png')
    expect(not console.nameless(), 'everything in the sheet has a name')
    own = follow_link(console)
    browser.wait('publish page', 'document.querySelector("#start") && document.querySelector("#token").value')
    browser.run('document.querySelector("#source").value = "pattern"')
    browser.click('#start')
    browser.wait('connection', 'document.querySelector("#log").textContent.includes("connection connected")')
    publisher = browser.call('GET', '/window')
    browser.call('POST', '/window', {'handle': own})
    console.close_sheet()
    browser.wait('publisher', 'document.querySelector("tr.session")?.textContent.includes("bert")')
    expect(True, 'a browser publishes by the link')
    watch(console, folder, 'console-watched-browser.png')
    browser.call('POST', '/window', {'handle': publisher})
    back(console, own)
    browser.wait('end', '!document.querySelector("tr.session")')


def arrange_keys(console):
    """A stream key finds its way back to the stage, and off it again."""
    browser = console.browser
    console.press('Attach', '#loose-keys')
    browser.wait('choice', 'document.querySelector("#ask-stageArn option")?.textContent.startsWith("my-show")')
    console.answer()
    browser.wait('key', 'document.querySelector(".stage .key")')
    console.press('Detach', '.stage .key')
    console.answer()
    browser.wait('loose key', '!document.querySelector("#loose").hidden')
    expect(True, 'a stream key is attached and detached')


def record_stage(console):
    """Quickstart's bucket, a stage that is recorded there, and everything as it was."""
    browser = console.browser
    console.press('Add storage')
    console.fill('bucketName', 'nobody-named-it')
    browser.click('#ask-yes')
    browser.wait('refusal', 'document.querySelector("#ask .fault").textContent')
    expect('names no bucket' in browser.text('#ask .fault'), 'a bucket that the configuration file does not name is refused')
    console.fill('bucketName', 'recordings')
    browser.click('#ask-yes')
    browser.wait('storage', 'document.querySelector("#storages li")?.textContent.includes("recordings")')
    console.press('Record', console.stage('my-show') + ' header')
    browser.wait('question', 'document.querySelector("#ask-storage")')
    browser.run('document.querySelector("#ask-storage").value = document.querySelector("#ask-storage option[value^=arn]").value')
    browser.click('#ask-yes')
    browser.wait('recorded', '[...document.querySelectorAll(".stage .recorded")].some(chip => chip.textContent.includes("recordings"))')
    console.press('Record', console.stage('my-show') + ' header')
    browser.wait('question', 'document.querySelector("#ask-storage")')
    expect(
        browser.run('return document.querySelector("#ask-storage").value').startswith('arn')
        and browser.run('return document.querySelector("#ask-storage").options[0].value') == '',
        'the question stands as the stage is recorded')
    browser.run('document.querySelector("#ask-storage").value = ""')
    browser.click('#ask-yes')
    browser.wait('not recorded', '[...document.querySelectorAll(".stage .recorded")].every(chip => chip.hidden)')
    console.press('Delete', '#storages')
    console.answer()
    browser.wait('no storage', '!document.querySelector("#storages-empty").hidden')


def import_public_key(console):
    browser = console.browser
    pem = subprocess.run(
        'openssl ecparam -name secp384r1 -genkey -noout | openssl ec -pubout', shell=True, check=True, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL).stdout.decode()
    for attempt in range(2):
        console.press('Import')
        console.fill('name', 'backend')
        browser.run('document.querySelector("#ask-publicKeyMaterial").value = arguments[0]', pem)
        browser.click('#ask-yes')
        if attempt == 0:
            browser.wait('public key', 'document.querySelector("#public-keys li")?.textContent.includes("backend")')
    browser.wait('refusal', 'document.querySelector("#ask .fault").textContent')
    expect('imported already' in browser.text('#ask .fault'), 'a public key is imported, and no second time')
    console.press('Cancel', '#ask')
    console.press('Delete', '#public-keys')
    console.answer()
    browser.wait('no public key', '!document.querySelector("#public-keys-empty").hidden')


def main():
    admin, key, secret, folder = sys.argv[1:]
    with webdriver.chromium() as browser:
        browser.resize(1100, 760)
        console = Console(browser, admin)
        console.sign_in(key, secret)
        empty(console)
        create_stage(console)
        command = create_key(console, folder)
        publish_by_ffmpeg(console, command, folder)
        publish_by_link(console, folder)
        arrange_keys(console)
        record_stage(console)
        import_public_key(console)
        console.press('Delete', console.stage('my-show') + ' header')
        console.answer()
        console.press('Delete', '#loose-keys')
        console.answer()
        browser.wait('nothing', '!document.querySelector(".stage") && document.querySelector("#loose").hidden')
        expect(secret not in browser.traffic(), 'the secret was never sent')


main()
