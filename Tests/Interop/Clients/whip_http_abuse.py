#!/usr/bin/env python3
"""whip_http_abuse.py NAME URL TOKEN OTHER-TOKEN: one way to be rude to a WHIP server's HTTP side, and what has to come of it.

Prints `ok` or `FAIL` with each demand; exits non-zero when one failed. GATEWAY_PID names the server's process.
"""
import base64
import hashlib
import hmac
import json
import os
import resource
import signal
import socket
import ssl
import sys
import time
import urllib.parse

from whip_peer import AGENT, Peer, answer, http

failed = 0


def check(demand, holds, more=''):
    global failed
    failed += not holds
    print('ok  ' if holds else 'FAIL', demand, more, flush=True)


def descriptors():
    return len(os.listdir('/proc/%s/fd' % os.environ['GATEWAY_PID']))


def eventually(condition, limit=60):
    end = time.time() + limit
    while time.time() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def connect():
    parts = urllib.parse.urlsplit(sys.argv[2])
    return socket.create_connection((parts.hostname, parts.port), timeout=60)


def status_of(data):
    with connect() as connection:
        connection.sendall(data)
        return answer(connection)[0]


def raw(data):
    """The status of what is said, and whether the connection ends after it."""
    with connect() as connection:
        connection.sendall(data)
        status = answer(connection)[0]
        try:
            return status, connection.recv(1) == b''
        except ConnectionResetError:
            return status, True
        except TimeoutError:
            return status, False


def descriptions():
    peer = Peer(sys.argv[2], sys.argv[3])
    good = peer.offer()
    video = good[good.index('m=video'):]
    candidate = 'a=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n'
    cases = [
        ('1 MB', good + 'a=x:' + 'y' * 1_000_000 + '\r\n', {413}),
        ('2,000 m-lines', good + 'm=video 9 UDP/TLS/RTP/SAVPF 96\r\n' * 2000, {400, 413, 422}),
        ('a thousand whole sections', good + video * 1000, {413}),
        ('10,000 candidates', good + candidate * 10000, {413}),
        ('1,000 candidates', good + candidate * 1000, {201, 400}),
        ('a NUL', good.replace('s=-', 's=\0'), {400}),
        ('bytes that are no UTF-8', good.replace('s=-', 's=\udcff\udcfe'), {201, 400}),
        ('a line of 60,000 bytes', good + 'a=fmtp:96 ' + 'x' * 60000 + '\r\n', {400, 413}),
        ('nothing', '', {400}),
        ('a number beyond all', good.replace('RTP/SAVPF 96', 'RTP/SAVPF 99999999999999999999'), {400, 422}),
        ('lines that end in LF alone', good.replace('\r\n', '\n'), {201, 400}),
    ]
    headers = ['Content-Type: application/sdp', *peer.authorization()]
    for name, offer, expected in cases:
        start = time.time()
        try:
            status = http(peer.url, 'POST', headers, offer.encode('utf-8', 'surrogateescape'))[0]
        except (BrokenPipeError, ConnectionResetError):
            status = 413  # Refused before it was sent.
        check('an offer with %s is answered %s' % (name, expected), status in expected, '%d, %.1f ms' % (status, 1000 * (time.time() - start)))
    check('an honest set-up succeeds', peer.connect())
    peer.delete()


def many_posts():
    peer = Peer(sys.argv[2], sys.argv[3])
    before, statuses, unexplained = descriptors(), {}, 0
    body = peer.offer().encode()
    fields = ['POST /whip HTTP/1.1', 'Host: a', 'Content-Type: application/sdp', 'Authorization: Bearer ' + peer.token,
              'Content-Length: %d' % len(body), '', '']
    request, start, connection = '\r\n'.join(fields).encode() + body, time.time(), connect()
    for _ in range(5000):
        connection.sendall(request)
        status, headers, _ = answer(connection)
        if status == 0 or headers.get('connection') == 'close':
            connection.close()
            connection = connect()
        statuses[status] = statuses.get(status, 0) + 1
        unexplained += status in (429, 503) and 'retry-after' not in headers
    connection.close()
    check('each is answered, or refused for now', set(statuses) <= {201, 429, 503}, '%s in %.1f s' % (statuses, time.time() - start))
    check('who is refused is told when to come again', unexplained == 0)
    check('no descriptor stays', eventually(lambda: descriptors() <= before + 1))


def slowly():
    """Heads, bodies and TLS handshakes that never come to their end, all at once."""
    before = descriptors()
    secure = int(os.environ['SECURE_PORT'])
    host = urllib.parse.urlsplit(sys.argv[2]).hostname
    beginnings = [
        ('a head', connect(), b'POST /whip HTTP/1.1\r\nHost: a\r\nX: '),
        ('a body', connect(), b'POST /whip HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ' + sys.argv[3].encode()
         + b'\r\nContent-Type: application/sdp\r\nContent-Length: 1000\r\n\r\n'),
        ('a TLS handshake', socket.create_connection((host, secure)), b'\x16\x03\x01\x02\x00\x01'),
        ('nothing at all', connect(), b''), ('nothing at all, where TLS is spoken', socket.create_connection((host, secure)), b''),
    ]
    start, ended = time.time(), {}
    for _, connection, beginning in beginnings:
        connection.sendall(beginning)
        connection.settimeout(0.05)
    while len(ended) < len(beginnings) and time.time() - start < 240:
        for name, connection, beginning in beginnings:
            if name in ended:
                continue
            try:
                if beginning:
                    connection.sendall(b'a')
                if connection.recv(4096) == b'':
                    ended[name] = time.time() - start
            except TimeoutError:
                pass
            except OSError:
                ended[name] = time.time() - start
        time.sleep(0.75)
    for name, connection, _ in beginnings:
        check('%s is cut' % name, name in ended, 'after %.1f s' % ended.get(name, -1))
        connection.close()
    check('no descriptor stays', eventually(lambda: descriptors() <= before))


def smuggling():
    head = b'POST /whip HTTP/1.1\r\nHost: a\r\nContent-Type: application/sdp\r\n'
    chunk = b'5\r\nhello\r\n0\r\n\r\n'
    cases = [
        ('both lengths', head + b'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n' + chunk),
        ('two lengths', head + b'Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!'),
        ('a list of lengths', head + b'Content-Length: 5, 6\r\n\r\nhello!'),
        ('a length with a sign', head + b'Content-Length: +5\r\n\r\nhello'),
        ('xchunked', head + b'Transfer-Encoding: xchunked\r\n\r\n' + chunk),
        ('chunked twice', head + b'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n' + chunk),
        ('chunked, then identity', head + b'Transfer-Encoding: chunked, identity\r\n\r\n' + chunk),
        ('space before the colon', head + b'Transfer-Encoding : chunked\r\n\r\n' + chunk),
        ('a folded field', head + b'X: a\r\n b\r\nContent-Length: 0\r\n\r\n'),
        ('LF and no CR', head.replace(b'\r\n', b'\n') + b'Content-Length: 0\n\n'),
        ('a chunk size beyond all', head + b'Transfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFFF\r\nhello\r\n0\r\n\r\n'),
        ('a chunk extension beyond all', head + b'Transfer-Encoding: chunked\r\n\r\n5;' + b'x' * 100000 + b'\r\nhello\r\n0\r\n\r\n'),
        ('no host', b'GET /whip HTTP/1.1\r\n\r\n'), ('two hosts', b'GET /whip HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n'),
        ('a NUL in a field', b'GET /whip HTTP/1.1\r\nHost: a\r\nX: \0\r\n\r\n'),
    ]
    for name, request in cases:
        status, is_closed = raw(request)
        # RFC 9112 section 6.1 has 501 for codings that are not known.
        check('%s: 400 and the end' % name, status in ((400, 501) if 'hunked' in name else (400, 413, 431)) and is_closed, status)
    peer = Peer(sys.argv[2], sys.argv[3])
    check('an honest set-up succeeds', peer.connect())
    path = urllib.parse.urlsplit(peer.location).path
    smuggled = 'DELETE %s HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer %s\r\n\r\n' % (path, peer.token)
    raw(head + b'Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n' + smuggled.encode())
    check('a DELETE behind two lengths is nobody\'s request', peer.delete() == 200)


def unusual_requests():
    peer = Peer(sys.argv[2], sys.argv[3])
    check('HTTP/1.0 is answered', status_of(b'GET /whip HTTP/1.0\r\nHost: a\r\n\r\n') in (200, 204, 505))
    check('HTTP/2 is refused', status_of(b'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n') in (400, 505))
    check('HEAD has no body', raw(b'HEAD /whip HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n') == (204, True))
    check('a target in absolute form is understood', status_of(b'GET http://a/whip HTTP/1.1\r\nHost: a\r\n\r\n') == 204)
    check('a field of 64 KB is refused', status_of(b'GET /whip HTTP/1.1\r\nHost: a\r\nX: ' + b'y' * 65536 + b'\r\n\r\n') == 431)
    check('2,000 fields are refused', status_of(b'GET /whip HTTP/1.1\r\nHost: a\r\n' + b'X: y\r\n' * 2000 + b'\r\n') in (400, 431))
    check('a line of 64 KB is refused', status_of(b'GET /' + b'y' * 65536 + b' HTTP/1.1\r\nHost: a\r\n\r\n') in (400, 414, 431))
    check('an unknown method is refused', status_of(b'BREW /whip HTTP/1.1\r\nHost: a\r\n\r\n') in (405, 501))
    agent = '\x1b[31m"},{"event":"forged"} %s' % ('x' * 500)
    status = http(peer.url, 'POST', ['Content-Type: application/sdp', 'Authorization: Bearer ' + peer.token, 'User-Agent: ' + agent], peer.offer().encode())[0]
    check('a name that wants to be a log line is let in or refused', status in (201, 400))
    check('an honest set-up succeeds', peer.connect())
    peer.delete()


def others_sessions():
    peer, other = Peer(sys.argv[2], sys.argv[3]), Peer(sys.argv[2], sys.argv[4])
    check('both have sessions', peer.connect() and other.connect())
    fragment = b'a=ice-ufrag:anew\r\na=ice-pwd:9876543210987654321098\r\n'

    def statuses(url):
        authorization = other.authorization()
        patch = http(url, 'PATCH', ['Content-Type: application/trickle-ice-sdpfrag', 'If-Match: *', *authorization], fragment)
        return patch[0], http(url, 'DELETE', authorization)[0]

    theirs, nobodys = statuses(peer.location), statuses(peer.location + 'x')
    check('PATCH and DELETE of another\'s session are refused', set(theirs) <= {403, 404}, theirs)
    check('a session that nobody has looks the same or is not found', set(nobodys) <= {403, 404}, nobodys)

    # In turns, since a loop with many events a second serves them all every 2 ms.
    times = {peer.location: [], peer.location[:-4] + 'AAAA': []}
    for _ in range(101):
        for url, taken in times.items():
            start = time.perf_counter()
            http(url, 'DELETE', other.authorization())
            taken.append(time.perf_counter() - start)
    there, nowhere = (min(taken) for taken in times.values())
    check('and takes as long', abs(there - nowhere) < 0.002, '%.2f and %.2f ms' % (1000 * there, 1000 * nowhere))
    check('both go on', peer.delete() == 200 and other.delete() == 200)


def tokens():
    def encoded(part):
        return base64.urlsafe_b64encode(part if isinstance(part, bytes) else json.dumps(part).encode()).rstrip(b'=').decode()

    peer = Peer(sys.argv[2], sys.argv[3])
    head, claims, signature = peer.token.split('.')
    header = json.loads(base64.urlsafe_b64decode(head + '=='))
    content = json.loads(base64.urlsafe_b64decode(claims + '=='))

    def forged(changes=(), claims_changes=(), sign=None):
        made = encoded({**header, **dict(changes)}) + '.' + encoded({**content, **dict(claims_changes)})
        return made + '.' + (encoded(sign(made.encode())) if sign else signature)

    def keyed(data):
        return hmac.new(signature.encode(), data, hashlib.sha384).digest()

    cases = [
        ('no algorithm', forged({'alg': 'none'})), ('no algorithm and no signature', forged({'alg': 'none'}).rsplit('.', 1)[0] + '.'),
        ('a hash in place of a signature', forged({'alg': 'HS384'}, sign=keyed)), ('another curve', forged({'alg': 'ES256'})),
        ('a key id that is a path', forged({'kid': '../../../../dev/null'})), ('a key of its own', forged({'jwk': {'kty': 'EC'}})),
        ('a URL to fetch keys from', forged({'jku': 'http://127.0.0.1:9/keys'})), ('a later end', forged((), {'exp': 4102444800})),
        ('an early beginning', forged((), {'nbf': 4102444800})), ('an end in the past', forged((), {'exp': 1})),
        ('another stage', forged((), {'stage_arn': 'arn:aws:ivs:us-east-1:000000000000:stage/abcdefghijkl'})),
        ('a signature of zeros', peer.token.rsplit('.', 1)[0] + '.' + encoded(bytes(96))),
        ('two dots', 'a..b'), ('4 KB', 'a.' * 2100 + 'b'),
    ]
    for name, token in cases:
        rude = Peer(sys.argv[2], token)
        check('a token with %s is answered 401' % name, rude.post() == 401)
    check('an honest set-up succeeds', peer.connect())
    peer.delete()


def settled():
    """Waits until the server has taken no connection for half a second, ten seconds at most."""
    seen, since, end = descriptors(), time.time(), time.time() + 10
    while time.time() < end and time.time() - since < .5:
        now = descriptors()
        if now != seen:
            seen, since = now, time.time()
        time.sleep(.02)


def no_descriptors_left():
    pid, peer = int(os.environ['GATEWAY_PID']), Peer(sys.argv[2], sys.argv[3])
    settled()
    normal = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    # Numbers are what is limited, and lower ones may be free.
    limit = max(map(int, os.listdir('/proc/%s/fd' % pid))) + 33
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (limit, normal[1]))
    crowd = [connect() for _ in range(limit - 8 - descriptors())]
    check('who wants to publish is asked to come again', eventually(lambda: peer.post() == 503))
    crowd += [connect() for _ in range(300)]
    settled()
    taken = descriptors()
    check('the server takes no more than it has', taken <= limit, '%d of %d' % (taken, limit))
    for connection in crowd:
        connection.close()
    resource.prlimit(pid, resource.RLIMIT_NOFILE, normal)
    check('an honest set-up succeeds when they are gone', eventually(peer.connect))
    peer.delete()


signal.pthread_sigmask(signal.SIG_SETMASK, [])
signal.alarm(400)
globals()[sys.argv[1]]()
sys.exit(failed > 0)
