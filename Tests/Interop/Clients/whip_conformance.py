#!/usr/bin/env python3
"""whip_conformance.py URL TOKEN [--strict-etags]: raw HTTP against any WHIP server, one line per demand of RFC 9725.

Standard library alone. Prints `ok`, `FAIL` or `skip` with the number of the demand, and exits non-zero when one failed.
`--strict-etags` also demands 428 for a missing If-Match (RFC 6585 §3). The numbers, with the sections of RFC 9725:

 1-11  the POST and its answer (§4.2, §4.4)      18-26  PATCH: trickle, ICE restart, ETags (§4.3)
12-15  redirects, load, extensions, ICE servers  27-30  DELETE, the session's URL (§4.2, §5)
       (§4.5 to §4.8)                            31-33  authentication and problem documents (§4.7)
16-17  GET, OPTIONS, other methods (§4.1)

28 and 29 (consent and DTLS end a session) need media and are skipped.
"""
import http.client
import json
import re
import signal
import sys
import urllib.parse

OFFER = '\r\n'.join([
    'v=0', 'o=- 1 1 IN IP4 127.0.0.1', 's=-', 't=0 0', 'a=group:BUNDLE 0 1', 'a=ice-options:trickle',
    'm=audio 9 UDP/TLS/RTP/SAVPF 111', 'c=IN IP4 0.0.0.0', 'a=mid:0', 'a=sendonly', 'a=rtcp-mux', 'a=setup:actpass',
    'a=ice-ufrag:hTxo', 'a=ice-pwd:5c9KRvHSgR5Ts0kGos2q4k', 'a=fingerprint:sha-256 ' + ':'.join(['AB'] * 32),
    'a=rtpmap:111 opus/48000/2', 'a=fmtp:111 minptime=10;useinbandfec=1', 'a=msid:stream audio',
    'm=video 9 UDP/TLS/RTP/SAVPF 96', 'c=IN IP4 0.0.0.0', 'a=mid:1', 'a=sendonly', 'a=rtcp-mux', 'a=setup:actpass',
    'a=ice-ufrag:hTxo', 'a=ice-pwd:5c9KRvHSgR5Ts0kGos2q4k', 'a=fingerprint:sha-256 ' + ':'.join(['AB'] * 32),
    'a=extmap:4 urn:ietf:params:rtp-hdrext:sdes:mid', 'a=rtpmap:96 H264/90000',
    'a=fmtp:96 level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f', 'a=rtcp-fb:96 nack', 'a=rtcp-fb:96 nack pli',
    'a=msid:stream video', ''])
TRICKLE = 'a=ice-ufrag:hTxo\r\na=ice-pwd:5c9KRvHSgR5Ts0kGos2q4k\r\nm=audio 9 RTP/AVP 0\r\na=mid:0\r\na=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n'
SIMULCAST = ('a=extmap:5 urn:ietf:params:rtp-hdrext:sdes:rtp-stream-id\r\na=rid:0 send\r\na=rid:1 send\r\na=rid:2 send\r\n'
             'a=simulcast:send 0;1;2\r\n')
RESTART = 'a=ice-ufrag:anew\r\na=ice-pwd:9876543210987654321098\r\n'
TWICE = ('m=video' + OFFER.split('m=video')[1]).replace('a=mid:1', 'a=mid:2')
SDP, FRAGMENT = 'application/sdp', 'application/trickle-ice-sdpfrag'


class Server:
    def __init__(self, url, token):
        self.url, self.token, self.failed = urllib.parse.urlsplit(url), token, 0
        self.explains = True

    def request(self, method, path=None, body=None, kind=None, token=True, **headers):
        secure = self.url.scheme == 'https'
        connection = (http.client.HTTPSConnection if secure else http.client.HTTPConnection)(self.url.netloc, timeout=60)
        if kind:
            headers['Content-Type'] = kind
        if token:
            headers['Authorization'] = 'Bearer ' + (self.token if token is True else token)
        path = path or self.url.path or '/'
        connection.request(method, path, body.encode() if body is not None else None, {k.replace('_', '-'): v for k, v in headers.items()})
        response = connection.getresponse()
        response.text = response.read().decode(errors='replace')
        connection.close()
        return response

    def post(self, body=OFFER, kind=SDP, **more):
        return self.request('POST', body=body, kind=kind, **more)

    def session(self):
        created = self.post()
        location = urllib.parse.urljoin(self.url.geturl(), created.getheader('Location') or '')
        return urllib.parse.urlsplit(location).path, created.getheader('ETag') or ''

    def end(self, path):
        return self.request('DELETE', path)

    def chunked(self, body):
        """A POST whose body comes in chunks, after 100 Continue was asked for."""
        secure = self.url.scheme == 'https'
        connection = (http.client.HTTPSConnection if secure else http.client.HTTPConnection)(self.url.netloc, timeout=60)
        headers = {'Content-Type': SDP, 'Authorization': 'Bearer ' + self.token, 'Expect': '100-continue'}
        connection.request('POST', self.url.path or '/', iter([body[:500].encode(), body[500:].encode()]), headers, encode_chunked=True)
        response = connection.getresponse()
        response.text = response.read().decode(errors='replace')
        connection.close()
        return response

    def skip(self, number, why):
        print('skip', number, why, flush=True)

    def check(self, number, demand, holds):
        self.failed += not holds
        print('ok  ' if holds else 'FAIL', number, demand, flush=True)


def posting(server):
    created = server.post()
    answer = created.text
    server.check('1a', 'POST of an offer is answered 201', created.status == 201)
    server.check('1b', 'the answer is application/sdp', (created.getheader('Content-Type') or '').startswith(SDP))
    server.check('1c', 'a Location names the session', bool(created.getheader('Location')))
    sections = answer.split('\r\nm=')[1:]
    server.check('4', 'every m-line is recvonly', len(sections) == 2 and all('a=recvonly' in s for s in sections))
    server.check('7a', 'BUNDLE is accepted', 'a=group:BUNDLE 0 1' in answer)
    server.check('7b', 'rtcp-mux-only in each bundled section', all('a=rtcp-mux-only' in s for s in sections))
    server.check('8', 'setup is passive for actpass', 'a=setup:passive' in answer)
    server.check('9a', 'all candidates are there, and their end', 'a=candidate:' in answer and 'a=end-of-candidates' in answer)
    server.check('10a', 'fingerprint is sha-256', 'a=fingerprint:sha-256' in answer)
    server.check('10b', 'extmaps only as offered', set(re.findall(r'a=extmap:(.*)\r', answer)) <= {'4 urn:ietf:params:rtp-hdrext:sdes:mid'})
    server.check('10c', 'm-lines and mids in order', re.findall(r'a=mid:(.*)\r', answer) == ['0', '1'])
    server.check('10d', 'payload types as offered', re.findall(r'm=(\w+) \d+ (\S+) (\d+)', answer) == [
        ('audio', 'UDP/TLS/RTP/SAVPF', '111'), ('video', 'UDP/TLS/RTP/SAVPF', '96')])
    server.check('10e', 'feedback only as offered', set(re.findall(r'a=rtcp-fb:(.*)\r', answer)) <= {'96 nack', '96 nack pli'})
    server.check('10f', 'ICE options only as offered', set(re.findall(r'a=ice-options:(.*)\r', answer)) <= {'trickle'})
    server.check('9b', 'ice-lite, if at all, at session level', 'a=ice-lite' not in answer or 'a=ice-lite' in answer.split('\r\nm=')[0])
    server.check('17', 'Location is exposed to pages', 'location' in (created.getheader('Access-Control-Expose-Headers') or '').lower())
    server.check('20', 'the ETag is strong and quoted', bool(re.fullmatch(r'"[^"]+"', created.getheader('ETag') or '')))
    server.check('30', 'the session id has 128 bits or more', len((created.getheader('Location') or '').rsplit('/', 1)[-1]) >= 22)
    server.check('30b', 'the session id is not the token', server.token not in (created.getheader('Location') or ''))
    links = created.headers.get_all('Link') or []
    servers = [link for link in links if 'rel="ice-server"' in link]
    server.check('15', 'a Link per ICE server, URL first, without a comma', all(
        re.match(r'<(stun|turn)s?:[^>]+>; ', link) and ',' not in link for link in servers))
    server.check('14', 'extensions are named by Links of their own', all(
        link in servers or re.match(r'<[^>,]+>;.*rel="?urn:ietf:params:whip:ext:', link) for link in links))
    path = urllib.parse.urlsplit(created.getheader('Location') or '/').path
    server.check('27a', 'DELETE is answered 200', server.end(path).status == 200)
    server.check('27b', 'a second DELETE is 404 or 200', server.end(path).status in (200, 404))
    server.check('27d', 'an ended session takes no PATCH', server.request('PATCH', path, TRICKLE, FRAGMENT).status in (404, 410))


def offering(server):
    """Offers that differ, and what of it the answer must show."""
    def answered(number, demand, response, holds=lambda answer: True):
        server.check(number, demand, response.status == 201 and holds(response.text))
        server.end(urllib.parse.urlsplit(response.getheader('Location') or '/').path)

    answered('3b', 'a chunked body is taken, and Expect is answered', server.chunked(OFFER))
    answered('4c', 'sendrecv is answered recvonly', server.post(body=OFFER.replace('sendonly', 'sendrecv')),
             lambda answer: answer.count('a=recvonly') == 2)
    answered('8b', 'setup is passive for active', server.post(body=OFFER.replace('actpass', 'active')),
             lambda answer: 'a=setup:active' not in answer)
    answered('8c', 'setup is active for passive, which ffmpeg offers', server.post(body=OFFER.replace('actpass', 'passive')),
             lambda answer: answer.count('a=setup:active') == 2)
    answered('11', 'simulcast is accepted with all its layers', server.post(body=OFFER + SIMULCAST),
             lambda answer: 'a=simulcast:recv 0;1;2\r\n' in answer and all('a=rid:%d recv' % rid in answer for rid in range(3)))
    answered('12', 'a POST is not redirected by 301 or 302', server.post())
    response = server.request('POST', body=OFFER, kind=SDP, token=False, Authorization='bearer ' + server.token)
    answered('32d', 'the scheme matches whatever its case', response)


def refusing(server):
    def refused(number, demand, response, statuses):
        problem = 'application/problem+json' in (response.getheader('Content-Type') or '')
        problem = problem and 'status' in json.loads(response.text or '{}')
        server.explains = server.explains and problem
        server.check(number, demand, response.status in statuses)

    refused('2a', 'another content type is 415', server.post(kind='text/plain'), {415})
    refused('2b', 'malformed SDP is 400', server.post(body='hello'), {400})
    refused('3', 'a body above 64 KiB is 413', server.post(body='v=0\r\n' + 'a=x\r\n' * 20000), {413})
    refused('4b', 'recvonly is 422', server.post(body=OFFER.replace('sendonly', 'recvonly')), {400, 422})
    refused('5', 'an offer that is half acceptable is refused whole', server.post(body=OFFER.replace('H264', 'VP8')), {400, 422})
    refused('2d', 'no content type is 415', server.post(kind=None), {400, 415})
    refused('6b', 'two video tracks are refused', server.post(body=OFFER.replace('0 1', '0 1 2') + TWICE), {400, 422})
    refused('6c', 'an offer without tracks is refused', server.post(body=OFFER.split('m=audio')[0]), {400, 422})
    refused('6', 'two streams are refused', server.post(body=OFFER.replace('stream video', 'other video')), {400, 422})
    refused('7c', 'an m-line without rtcp-mux is 422', server.post(body=OFFER.replace('a=rtcp-mux\r\n', '')), {422})
    refused('32a', 'no token is 401', server.post(token=False), {401})
    refused('32b', 'a bad token is 401', server.post(token='bad'), {401})
    server.check('32c', 'and names the Bearer scheme', (server.post(token=False).getheader('WWW-Authenticate') or '').startswith('Bearer'))
    session = server.post(kind='Application/SDP; charset=utf-8')
    server.check('2c', 'media types match whatever their case, with parameters', session.status == 201)
    server.end(urllib.parse.urlsplit(session.getheader('Location') or '/').path)


def methods(server):
    path, _ = server.session()
    for number, target in (('16a', None), ('16b', path)):
        response = server.request('GET', target, token=False)
        server.check(number, 'GET is success without content', response.status // 100 == 2 and not response.text)
        head = server.request('HEAD', target, token=False)
        server.check(number.replace('a', 'd').replace('b', 'e'), 'and so is HEAD', head.status // 100 == 2)
    put = server.request('PUT', body='', token=False)
    server.check('16c', 'PUT is 405 with Allow', put.status == 405 and bool(put.getheader('Allow')))
    options = server.request('OPTIONS', token=False)
    server.check('17a', 'OPTIONS is 200 with Accept-Post', options.status == 200 and options.getheader('Accept-Post') == SDP)
    preflight = server.request('OPTIONS', token=False, Origin='https://example.com', Access_Control_Request_Method='POST')
    allowed = preflight.getheader('Access-Control-Allow-Methods') or ''
    server.check('17b', 'a preflight needs no token and allows the methods', preflight.status // 100 == 2 and 'PATCH' in allowed and 'DELETE' in allowed)
    server.check('17c', 'a preflight shows no ICE servers', not preflight.getheader('Link'))
    server.end(path)


def patching(server, strict):
    path, etag = server.session()
    send = lambda body, kind=FRAGMENT, **headers: server.request('PATCH', path, body, kind, **headers)
    other = send(TRICKLE, 'text/plain', If_Match=etag)
    server.check('18a', 'a fragment of another type is 415', other.status == 415)
    server.check('18c', 'and the answer names the type that is taken', other.getheader('Accept-Patch') == FRAGMENT)
    server.check('18b', 'a malformed fragment is 400', send('hello', If_Match=etag).status == 400)
    trickle = send(TRICKLE, If_Match=etag)
    server.check('22', 'trickle is 204 without ETag or body', trickle.status == 204 and not trickle.getheader('ETag') and not trickle.text)
    server.end(path)
    former, (path, etag) = etag, server.session()
    server.check('20b', 'each ICE session has an ETag of its own', etag != former)
    hidden = TRICKLE.replace('192.0.2.1', '4c4f1d3e-0000-4000-8000-000000000000.local')
    server.check('22b', 'what cannot be resolved is dropped silently', send(hidden, If_Match=etag).status == 204)
    server.check('22c', 'and so is another transport', send(TRICKLE.replace('udp', 'sctp'), If_Match=etag).status == 204)
    server.check('26a', 'a fragment without m-line is taken', send('a=end-of-candidates\r\n', If_Match=etag).status == 204)
    server.check('26b', 'credentials repeated unchanged are trickle', send(TRICKLE + 'a=end-of-candidates\r\n', If_Match=etag).status == 204)
    server.check('21a', 'a stale ETag is 412', send(TRICKLE, If_Match='"stale"').status == 412)
    if strict:
        server.check('21b', 'a missing If-Match is 428', send(TRICKLE).status == 428)
    restart = send(RESTART, If_Match='*')
    fresh = restart.getheader('ETag')
    server.check('23a', 'a restart is 200 with a fragment', restart.status == 200 and (restart.getheader('Content-Type') or '').startswith(FRAGMENT))
    server.check('23b', 'and with a new ETag and credentials', bool(fresh) and fresh != etag and 'a=ice-ufrag:' in restart.text and 'a=ice-pwd:' in restart.text)
    server.check('23c', 'and with candidates', 'a=candidate:' in restart.text)
    again = send(RESTART.replace('anew', 'once'), If_Match='"*"')
    server.check('23d', 'and so is one with the quoted star of the example', again.status == 200)
    fresh = send(RESTART, If_Match='*').getheader('ETag')
    server.check('19', 'trickle and restart are both there, so that neither is 422', trickle.status == 204 and restart.status == 200)
    server.check('25', 'the old ETag is stale now', send(TRICKLE.replace('hTxo', 'anew'), If_Match=etag).status == 412)
    server.check('24', 'a restart that cannot be is refused', send('a=ice-ufrag:more\r\n', If_Match='*').status // 100 == 4)
    server.check('24b', 'and the session goes on', send(TRICKLE.replace('hTxo', 'anew'), If_Match=fresh or '').status == 204)
    server.check('31c', 'another token may neither change nor end it', all(
        server.request(method, path, TRICKLE, FRAGMENT, token='another').status in (401, 403, 404) for method in ('PATCH', 'DELETE')))
    server.check('31a', 'PATCH wants the token', server.request('PATCH', path, TRICKLE, FRAGMENT, token=False).status == 401)
    server.check('31b', 'DELETE wants the token', server.request('DELETE', path, token=False).status == 401)
    deleted = server.request('DELETE', path, If_Match='"stale"')
    server.check('27c', 'DELETE ignores If-Match', deleted.status == 200)


def loading(server):
    """The last one: afterwards this address may have to wait for a while."""
    answers = [server.post(body='', token='wrong') for _ in range(300)]
    busy = [answer for answer in answers if answer.status in (429, 503)]
    server.check('13', 'whoever is turned away for load is told when to come again', all(answer.getheader('Retry-After') for answer in busy))
    server.check('30c', 'requests have a limit per source', len(busy) > 0)


def main():
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    server = Server(sys.argv[1], sys.argv[2])
    posting(server)
    offering(server)
    refusing(server)
    methods(server)
    patching(server, '--strict-etags' in sys.argv)
    server.skip('28', 'consent that expires ends the session: needs ICE')
    server.skip('29', 'close_notify ends the session: needs DTLS')
    server.check('33', 'every refusal is a problem document', server.explains)
    loading(server)
    print('failed:', server.failed)
    sys.exit(server.failed > 0)


main()
