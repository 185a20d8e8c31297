#!/usr/bin/env python3
"""whip_conformance.py URL TOKEN [--strict-etags]: raw HTTP against any WHIP server, one line per demand of RFC 9725.

Standard library alone. Prints `ok` or `FAIL` with the number of the demand, and exits non-zero when one failed. The numbers are
those of the comments below; demands that need media (ICE, DTLS) are not here. `--strict-etags` also demands 428 (RFC 6585 §3).
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
RESTART = 'a=ice-ufrag:anew\r\na=ice-pwd:9876543210987654321098\r\n'
SDP, FRAGMENT = 'application/sdp', 'application/trickle-ice-sdpfrag'


class Server:
    def __init__(self, url, token):
        self.url, self.token, self.failed = urllib.parse.urlsplit(url), token, 0

    def request(self, method, path=None, body=None, kind=None, token=True, **headers):
        secure = self.url.scheme == 'https'
        connection = (http.client.HTTPSConnection if secure else http.client.HTTPConnection)(self.url.netloc, timeout=10)
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
    server.check('17', 'Location is exposed to pages', 'location' in (created.getheader('Access-Control-Expose-Headers') or '').lower())
    server.check('20', 'the ETag is strong and quoted', bool(re.fullmatch(r'"[^"]+"', created.getheader('ETag') or '')))
    server.check('30', 'the session id has 128 bits or more', len((created.getheader('Location') or '').rsplit('/', 1)[-1]) >= 22)
    path = urllib.parse.urlsplit(created.getheader('Location') or '/').path
    server.check('27a', 'DELETE is answered 200', server.end(path).status == 200)
    server.check('27b', 'a second DELETE is 404 or 200', server.end(path).status in (200, 404))


def refusing(server):
    def refused(number, demand, response, statuses):
        problem = 'application/problem+json' in (response.getheader('Content-Type') or '')
        server.check(number, demand, response.status in statuses and problem and 'status' in json.loads(response.text or '{}'))

    refused('2a', 'another content type is 415', server.post(kind='text/plain'), {415})
    refused('2b', 'malformed SDP is 400', server.post(body='hello'), {400})
    refused('3', 'a body above 64 KiB is 413', server.post(body='v=0\r\n' + 'a=x\r\n' * 20000), {413})
    refused('4b', 'recvonly is 422', server.post(body=OFFER.replace('sendonly', 'recvonly')), {400, 422})
    refused('5', 'an offer that is half acceptable is refused whole', server.post(body=OFFER.replace('H264', 'VP8')), {400, 422})
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
    server.check('18a', 'a fragment of another type is 415', send(TRICKLE, 'text/plain', If_Match=etag).status == 415)
    server.check('18b', 'a malformed fragment is 400', send('hello', If_Match=etag).status == 400)
    trickle = send(TRICKLE, If_Match=etag)
    server.check('22', 'trickle is 204 without ETag or body', trickle.status == 204 and not trickle.getheader('ETag') and not trickle.text)
    server.check('21a', 'a stale ETag is 412', send(TRICKLE, If_Match='"stale"').status == 412)
    if strict:
        server.check('21b', 'a missing If-Match is 428', send(TRICKLE).status == 428)
    restart = send(RESTART, If_Match='*')
    fresh = restart.getheader('ETag')
    server.check('23a', 'a restart is 200 with a fragment', restart.status == 200 and (restart.getheader('Content-Type') or '').startswith(FRAGMENT))
    server.check('23b', 'and with a new ETag and credentials', bool(fresh) and fresh != etag and 'a=ice-ufrag:' in restart.text and 'a=ice-pwd:' in restart.text)
    server.check('25', 'the old ETag is stale now', send(TRICKLE.replace('hTxo', 'anew'), If_Match=etag).status == 412)
    server.check('24', 'a restart that cannot be is refused', send('a=ice-ufrag:more\r\n', If_Match='*').status // 100 == 4)
    server.check('31a', 'PATCH wants the token', server.request('PATCH', path, TRICKLE, FRAGMENT, token=False).status == 401)
    server.check('31b', 'DELETE wants the token', server.request('DELETE', path, token=False).status == 401)
    deleted = server.request('DELETE', path, If_Match='"stale"')
    server.check('27c', 'DELETE ignores If-Match', deleted.status == 200)


def main():
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    server = Server(sys.argv[1], sys.argv[2])
    posting(server)
    refusing(server)
    methods(server)
    patching(server, '--strict-etags' in sys.argv)
    print('failed:', server.failed)
    sys.exit(server.failed > 0)


main()
