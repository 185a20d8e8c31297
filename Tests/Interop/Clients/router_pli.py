#!/usr/bin/env python3
"""router_pli.py PORT SECONDS: a stage router that asks for a keyframe a thousand times a second, once video comes to PORT.

Prints how many packets came and how often it asked.
"""
import json
import signal
import socket
import struct
import sys
import time

signal.pthread_sigmask(signal.SIG_SETMASK, [])
router = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
router.bind(('127.0.0.1', int(sys.argv[1])))
router.settimeout(240)
print('listening', flush=True)
first, gateway = router.recvfrom(2048)
ssrc = struct.unpack_from('!I', first, 8)[0]
# An empty receiver report and a picture loss indication (RFC 4585 section 6.3.1).
request = struct.pack('!BBHI', 0x80, 201, 1, 1) + struct.pack('!BBHII', 0x81, 206, 2, 1, ssrc)
router.setblocking(False)
received, asked, start = 1, 0, time.time()
while (elapsed := time.time() - start) < float(sys.argv[2]):
    try:
        while True:
            router.recv(2048)
            received += 1
    except BlockingIOError:
        pass
    while asked < elapsed * 1000:
        router.sendto(request, gateway)
        asked += 1
    time.sleep(0.001)
print(json.dumps({'received': received, 'asked': asked}))
