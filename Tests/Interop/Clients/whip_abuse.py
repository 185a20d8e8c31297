#!/usr/bin/env python3
"""whip_abuse.py NAME URL TOKEN METRICS-URL OTHER-TOKEN: one way to be rude or restless at a WHIP server's media port, and what
has to come of it.

Prints `ok` or `FAIL` with each demand; exits non-zero when one failed.
"""
import os
import re
import signal
import struct
import sys
import time
import urllib.request

from whip_peer import Peer

failed = 0


def check(demand, holds, more=''):
    global failed
    failed += not holds
    print('ok  ' if holds else 'FAIL', demand, more, flush=True)


def metric(name, label=''):
    text = urllib.request.urlopen(sys.argv[4], timeout=60).read().decode()
    return sum(float(value) for labels, value in re.findall(r'(?m)^%s(\{.*\})? (\S+)$' % name, text) if label in labels)


def dropped():
    """Datagrams that the server's kernel dropped before anybody could count them, as it may on a busy machine."""
    return metric('stagedoor_udp_rcvbuf_errors_total')


def gathered(peer, wanted, limit=100):
    """The datagrams that `wanted` says are: from the first of them on, what comes within a moment."""
    found, end = [], time.time() + limit
    while not found and time.time() < end:
        found = [data for data in peer.receive(timeout=0.2) if wanted(data)]
    return found + [data for data in peer.receive(timeout=0.3) if wanted(data)]


def live_sessions():
    return metric('stagedoor_sessions', 'state="live"')


def eventually(condition, limit=100):
    end = time.time() + limit
    while time.time() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def forwards(peer):
    """Whether frames of the peer still get through, as the server reports to it: metrics count the stream beside it too."""
    wanted = peer.sequence + 20

    def is_reported():
        peer.send_frame()
        peer.receive(timeout=0.02)
        return peer.highest >= wanted

    return eventually(is_reported)


def connected():
    peer = Peer(sys.argv[2], sys.argv[3])
    check('an honest set-up succeeds', peer.connect())
    peer.send_frame(key=True)
    return peer


def hello_from_a_third_address():
    peer, before = Peer(sys.argv[2], sys.argv[3]), metric('stagedoor_dtls_unverified_source_total')
    check('the POST is answered 201', peer.post() == 201)
    stranger, other = peer.add_socket('127.0.0.2'), Peer(sys.argv[2], sys.argv[3])
    other.remote, other.sockets = peer.remote, peer.sockets

    def intrude():
        for flight in other.hello():
            peer.send(flight, stranger)
        return peer.sockets[stranger] and not [d for d in other.receive(stranger, 0.3)]

    check('nothing answers it before the check', intrude())
    check('the check is answered', peer.check())
    check('nothing answers it before the handshake', intrude())
    flights = peer.hello()
    for flight in flights:
        peer.send(flight)
    check('nothing answers it while the handshake runs', intrude())
    check('the honest handshake succeeds', peer.handshake(is_begun=True))
    peer.send_frame(key=True)
    check('nothing answers it after the handshake', intrude())
    check('media goes on', forwards(peer))
    check('each was counted', eventually(lambda: metric('stagedoor_dtls_unverified_source_total') >= before + 4))
    peer.delete()


def null_cipher():
    peer = Peer(sys.argv[2], sys.argv[3])
    check('the check is answered', peer.post() == 201 and peer.check())
    for flight in peer.hello('eNULL:@SECLEVEL=0'):
        peer.send(flight)
    answers = gathered(peer, lambda data: data[0] == 21)
    check('it is answered by a fatal alert', any(data[13] == 2 for data in answers), answers)
    check('the session is there for a right handshake', peer.handshake())
    peer.send_frame(key=True)
    check('media goes on', forwards(peer))
    peer.delete()


def wrong_integrity():
    peer, before = connected(), metric('stagedoor_stun_rejected_total')
    stranger = peer.add_socket('127.0.0.2')
    # 10,000 at a rate that no receive buffer minds.
    for number in range(10000):
        peer.send(peer.request('wrong' * 5), stranger)
        if number % 100 == 0:
            time.sleep(0.002)
    check('none is answered', not peer.receive(stranger, 0.5))
    check('all are counted', eventually(lambda: metric('stagedoor_stun_rejected_total') + dropped() >= before + 9900))
    check('media goes on', forwards(peer))
    peer.delete()


def check_from_a_new_address():
    peer = connected()
    other = peer.add_socket('127.0.0.2')
    peer.receive(timeout=0.3)
    check('a check with a wrong password is not answered', not peer.check(other, 'wrong' * 5, timeout=0.5))
    check('one with the right password is', peer.check(other, nominate=False))
    peer.receive(other)

    def feedback(index):
        found = False
        end = time.time() + 100
        while time.time() < end and not found:
            peer.send_frame()
            found = any(128 <= data[0] < 192 for data in peer.receive(index, 0.05))
        return found

    check('feedback stays where media comes from', feedback(0) and not any(d[0] >= 128 for d in peer.receive(other, 0.2)))
    peer.active = other
    check('and follows it to the new address', feedback(other))
    check('media goes on', forwards(peer))
    peer.delete()


def replay():
    peer, before = connected(), metric('stagedoor_srtp_replay_total') + dropped()
    packet = peer.send_frame()
    check('the packet arrives', forwards(peer))
    for _ in range(1000):
        peer.send(packet)
    # All of them, so that none was taken for media.
    check('1,000 copies are dropped', eventually(lambda: metric('stagedoor_srtp_replay_total') + dropped() >= before + 1000))
    check('media goes on', forwards(peer))
    peer.delete()


def forged():
    peer, before = connected(), metric('stagedoor_srtp_auth_fail_total')
    packet = bytearray(peer.send_frame())
    start = time.time()
    for number in range(100000):
        struct.pack_into('!H', packet, 2, (peer.sequence + 1 + number % 1000) & 0xFFFF)
        packet[40] = number & 255
        peer.send(bytes(packet))
    print('100,000 forged packets in %.1f s' % (time.time() - start))
    check('they are counted', eventually(lambda: metric('stagedoor_srtp_auth_fail_total') + dropped() >= before + 99000), dropped())
    check('the session survives', forwards(peer))
    peer.delete()


def many_sources():
    peer = connected()
    pid = int(os.environ['GATEWAY_PID'])

    def resident():
        return int(re.search(r'VmRSS:\s+(\d+)', open('/proc/%d/status' % pid).read())[1])

    def crowd(count, first):
        for number in range(count):
            if number % 100 == 0:
                outbound = peer.new_outbound()
                time.sleep(0.002)
            ssrc = (first + number * 40503) & 0xFFFFFFFF | 1
            peer.send(outbound.protect(peer.rtp(b'\x41\x9a' + b'\x55' * 20, ssrc=ssrc, sequence=1, kind=96)))

    crowd(1000, 1)
    before = resident()
    crowd(100000, 77777)
    check('a publisher\'s own packets still arrive', forwards(peer))
    # Set by scripts/sanitize: the address sanitizer keeps what was freed.
    if 'ASAN_OPTIONS' not in os.environ:
        check('memory stays', resident() - before < 5120, '%d KB more' % (resident() - before))
    peer.delete()


def plain_control():
    peer = connected()
    bye = struct.pack('!BBHI', 0x81, 203, 1, peer.ssrc)
    for _ in range(100):
        peer.send(bye)
        peer.send(bye + b'\x80\0\0\1' + b'\0' * 10)
    check('media goes on after 200 BYEs in the clear', forwards(peer))
    peer.delete()


def lying_lengths():
    peer = connected()
    for words in (0, 1, 2, 7, 100, 0x7FFF, 0xFFFF):
        for kind in (200, 201, 202, 203, 205, 206, 207):
            for count in (0, 1, 31):
                if kind == 203 and count and words:
                    continue  # That is a BYE, which is the publisher's right.
                lie = struct.pack('!BBHI', 0x80 | count, kind, words, peer.ssrc) + b'\xff' * 24
                peer.send(peer.outbound.protect_rtcp(lie))
    check('media goes on', forwards(peer))
    peer.delete()


def delete_racing_the_hello():
    peer, other = Peer(sys.argv[2], sys.argv[3]), Peer(sys.argv[2], sys.argv[3])
    live, statuses, start = live_sessions(), {}, time.time()
    for number in range(1000):
        # Each address may ask for only so much, and the port of every check is another worker's.
        peer.source = '127.0.%d.%d' % (number // 250 + 1, number % 250 + 1)
        peer.sockets.pop().close()
        peer.add_socket()
        if peer.post() != 201 or not peer.check():
            return check('each is set up', False, number)
        hello = peer.hello()
        if number % 2:
            for flight in hello:
                peer.send(flight)
        status = peer.delete()
        for flight in hello:
            peer.send(flight)
        statuses[status] = statuses.get(status, 0) + 1
    check('each DELETE finds its session', statuses == {200: 1000}, '%s in %.1f s' % (statuses, time.time() - start))
    check('nothing is left behind', eventually(lambda: live_sessions() == live))
    check('an honest set-up succeeds', other.connect())
    other.send_frame(key=True)
    check('media comes', forwards(other))
    other.delete()


def three_pairs():
    """Each nominated; the pair changes between ClientHello and Finished, and again for media."""
    peer = Peer(sys.argv[2], sys.argv[3])
    for host in ('127.0.0.2', '127.0.0.3'):
        peer.add_socket(host)
    live = live_sessions()
    check('the POST is answered 201', peer.post() == 201)
    check('each check is answered', all(peer.check(index) for index in range(3)))
    for flight in peer.hello():
        peer.send(flight)
    answers = gathered(peer, lambda data: 20 <= data[0] < 64)
    check('the server\'s flight comes where the hello came from', bool(answers))
    for data in answers:
        peer.ssl.bio_write(data)
    peer.active = 1
    for flight in peer.step():
        peer.send(flight)
    check('the handshake ends on another pair', peer.handshake(is_begun=True))
    peer.send_frame(key=True)
    for peer.active in (0, 1, 2):
        check('media goes by pair %d' % peer.active, forwards(peer))
    check('it is one session', live_sessions() == live + 1)
    check('DELETE ends it', peer.delete() == 200 and eventually(lambda: live_sessions() == live))


def restart_to_another_address():
    peer = connected()
    check('media comes', forwards(peer))
    old = peer.remote_ufrag, peer.remote_password
    check('the PATCH is answered 200', peer.restart() == 200)
    check('media goes on until the first check', forwards(peer))
    peer.active = peer.add_socket('127.0.0.2')
    check('a check with the new password is answered', peer.check())
    check('media goes on from the new address', forwards(peer))
    stranger = peer.add_socket('127.0.0.3')
    peer.remote_ufrag, peer.remote_password = old
    check('the old password is nobody\'s', not peer.check(stranger, timeout=0.5))
    peer.delete()


def rebinding():
    """Two clients that number their sources alike, as simple-whip-client does, behind a NAT that forgets."""
    peers = [Peer(sys.argv[2], token) for token in (sys.argv[3], sys.argv[5])]
    for peer in peers:
        peer.ssrc, peer.audio = 1, 2
        check('an honest set-up succeeds', peer.connect())
        peer.send_frame(key=True)
    for peer in peers:
        check('media comes', forwards(peer))
    lost, before_dropped = metric('stagedoor_rx_lost_packets_total'), dropped()
    for peer in peers:
        peer.active = peer.add_socket('127.0.0.2')
    before, start, count = metric('stagedoor_srtp_auth_fail_total'), time.time(), 0
    # As long as real clients take to their next check.
    while time.time() < start + 3:
        for peer in peers:
            for _ in range(5):
                peer.send_frame()
                count += 1
        time.sleep(0.02)
    for peer in peers:
        check('the next check is answered', peer.check())
        check('media goes on', forwards(peer))
    lost = metric('stagedoor_rx_lost_packets_total') - lost
    check('nothing was lost', lost <= dropped() - before_dropped, '%d of %d frames in 3 s' % (lost, count))
    check('little was tried in vain', metric('stagedoor_srtp_auth_fail_total') - before < 100)
    for peer in peers:
        peer.delete()


def gone_without_a_word():
    peer = connected()
    start = time.time()
    check('media comes', forwards(peer))
    live = live_sessions()
    check('its place is free in the end', eventually(lambda: live_sessions() < live))
    check('and not before 9 s', time.time() - start > 9, '%.1f s' % (time.time() - start))
    # For a minute after an end of ours the encoder's own goodbye is answered.
    check('its DELETE is answered all the same', peer.delete() == 200)


signal.pthread_sigmask(signal.SIG_SETMASK, [])
signal.alarm(400)
globals()[sys.argv[1]]()
sys.exit(failed > 0)
