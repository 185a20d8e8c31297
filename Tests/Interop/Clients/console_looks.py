#!/usr/bin/env python3
"""console_looks.py ADMIN-URL KEY-ID SECRET READER-ID READER-SECRET FOLDER: how the console looks, and to whom it shows what.

On a phone and on a desktop, in the light and in the dark; by its accessibility tree; and for a key that may only look. Leaves
pictures in FOLDER.
"""
import sys

import webdriver
from console import Console, expect

REFUSED = """
const [operation, done] = arguments;
import('/console/api.js').then(api => api.session().then(() => api.operation(operation, {}))).then(() => done('done'), error => done(error.message));
"""

AFTER_MIDNIGHT = """
const [done] = arguments;
import('/console/units.js').then(units => done(units.clock(new Date(2026, 0, 1, 0, 5))), error => done(error.message));
"""

# A stage's last ten sessions, two recorded publishers in each, in a store: at a gateway that answers five questions a second, as many as
# the usual quota lets through, and reads four of a store's files at once.
MANY_RECORDINGS = """
const [gateway, asked] = [window.fetch, new Map()];
let reads = 0;
const read = async path => {
  if (reads === 4) return new Response('', {status: 503});
  reads += 1;
  await new Promise(resolve => setTimeout(resolve, 20));
  reads -= 1;
  return new Response(path.endsWith('/multivariant.m3u8')
    ? '#EXTM3U\\n#EXT-X-STREAM-INF:BANDWIDTH=8000,CODECS="opus"\\nhigh/playlist.m3u8\\n' : '#EXTM3U\\n#EXTINF:6.0,\\n1.mp4\\n');
};
const publishers = sessionId => [1, 2].map(number =>
  ({participantId: `${sessionId}-${number}`, recordingState: 'STOPPED', firstJoinTime: `2026-11-27T12:00:0${number}.000Z`}));
const answers = {
  '/ListStageSessions': () => ({stageSessions: [...'abcdefghij'].map(sessionId => ({sessionId}))}),
  '/ListParticipants': ({sessionId, filterByPublished}) => ({participants: filterByPublished ? publishers(sessionId) : []}),
  '/GetParticipant': ({participantId}) => ({participant: {recordingS3BucketName: 'bucket', recordingS3Prefix: participantId}}),
};
window.fetch = async (path, options) => {
  if (path.includes('/recording/')) return read(path);
  const answer = answers[path];
  if (!answer) return gateway(path, options);
  const second = `${path} ${Math.floor(performance.now() / 1000)}`;
  asked.set(second, (asked.get(second) ?? 0) + 1);
  if (asked.get(second) > 5) return Response.json({message: 'Rate exceeded'}, {status: 429});
  return Response.json(answer(JSON.parse(options.body)));
};
import('/console/recordings.js').then(({showRecordings}) => showRecordings({id: 'many', name: 'many', arn: 'many'}));
"""
PLACES = '[...document.querySelectorAll("dialog .recordings small.mono")].map(place => place.textContent).join(" ")'
LENGTHS = '[...document.querySelectorAll("dialog .recordings small:first-of-type")].filter(facts => facts.textContent.startsWith("0:06 "))'


def list_recordings(console):
    browser = console.browser
    browser.run(MANY_RECORDINGS)
    latest = ' '.join('bucket/%s-%d' % (session, number) for session in 'abcdefghij' for number in (2, 1))
    browser.wait('twenty recordings, the newest first', PLACES + ' === arguments[0]', latest)
    browser.wait('how long each is', LENGTHS + '.length === 20')
    expect(True, 'the latest twenty recordings, where they are and how long, without asking for more at once than is answered')
    console.close_sheet()


def look_around(console, folder):
    browser = console.browser
    told = browser.call('POST', '/execute/async', {'script': AFTER_MIDNIGHT, 'args': []})
    expect(told.startswith('00:05'), 'five past midnight is in hour 0, not 24')
    console.stage('demo')
    console.check('the overview')
    for words, what in [('Create stage', 'the question for a stage'), ('Import', 'the question for a public key')]:
        console.press(words)
        console.check(what, 'dialog')
        console.press('Cancel', 'dialog')
    for words, what in [('New stream key', 'the question for a stream key'), ('New token', 'the question for a token')]:
        console.press(words, console.stage('demo'))
        console.check(what, 'dialog')
        if words == 'New token':
            browser.prefer('dark')
            browser.resize(390, 760, phone=True)
            browser.photograph(folder + '/console-phone.png')
        console.answer() if words == 'New token' else console.press('Cancel', 'dialog')
    console.card('The token itself')
    console.check('a token\'s sheet', 'dialog')
    browser.keys('\ue00c')
    browser.wait('end of the sheet', '!document.querySelector("dialog")')
    expect(browser.run('return document.activeElement.textContent') == 'New token', 'Escape closes, and the focus is where it was')
    console.press('Show', console.stage('demo'))
    console.card('Larix Broadcaster by RTMPS')
    console.check('a stream key\'s sheet', 'dialog')
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
    expect(sorted(shown) == ['Recordings', 'Sign out'], 'a read-only key sees stages and stream keys, and no button that changes anything')
    expect('may not create stages, delete stages,' in browser.text('#rights'), 'the page says what the key may not do')
    for operation in ('CreateStage', 'DeleteStage', 'CreateParticipantToken', 'ImportPublicKey', 'UpdateIngestConfiguration'):
        answer = browser.call('POST', '/execute/async', {'script': REFUSED, 'args': [operation]})
        expect(answer == 'This access key is not authorized to perform: ivs:%s, because it is read-only.' % operation,
               '%s is refused to it' % operation)


def main():
    admin, key, secret, reader, reader_secret, folder = sys.argv[1:]
    with webdriver.chromium() as browser:
        console = Console(browser, admin)
        console.sign_in(key, secret)
        look_around(console, folder)
        list_recordings(console)
        only_look(console, reader, reader_secret)


main()
