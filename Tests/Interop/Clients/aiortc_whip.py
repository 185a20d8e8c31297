#!/usr/bin/env python3
"""aiortc_whip.py SECONDS URL TOKEN [FILE]: a WHIP publisher on aiortc; FILE `clock` sends clock_picture.py's pictures and a tone.

Prints one line per event: the POST's status, connection states, what was sent, keyframes asked for, the DELETE's status.
Environment: ORDER=av|va|v (order of m-lines), CODEC=H264|VP8, VIDEO=later (offers video and sends none before SIGUSR1), WRONG=fingerprint|password (a fault of the client's),
TURN=1 (asks for the TURN servers by a first session, and publishes with them; prints the kind of the candidates in use).
SIGUSR2 ends it before its time.
"""
import asyncio
import math
import os
import re
import signal
import struct
import sys
from urllib.parse import urljoin

import aiohttp
import av
from aiortc import (AudioStreamTrack, RTCConfiguration, RTCIceServer, RTCPeerConnection, RTCRtpSender, RTCSessionDescription,
                    VideoStreamTrack)
from aiortc.contrib.media import MediaPlayer

import clock_picture
import patient  # by being imported


class ClockTrack(VideoStreamTrack):
    """Pictures that tell when they were made."""
    number = 0

    async def recv(self):
        stamp, base = await self.next_timestamp()
        self.number += 1
        frame = av.VideoFrame(clock_picture.WIDTH, clock_picture.HEIGHT, 'yuv420p')
        for plane, data in zip(frame.planes, clock_picture.planes(self.number)):
            plane.update(data)
        frame.pts, frame.time_base = stamp, base
        return frame


class ToneTrack(AudioStreamTrack):
    """A tone in place of aiortc's silence."""
    SAMPLES = b''.join(struct.pack('<h', int(12000 * math.sin(2 * math.pi * 550 * n / 8000))) for n in range(160))

    async def recv(self):
        frame = await super().recv()
        frame.planes[0].update((self.SAMPLES * 6)[:frame.planes[0].buffer_size])
        return frame


def add_tracks(connection, path):
    if path == 'clock':
        tracks, path = {'a': ToneTrack(), 'v': ClockTrack()}, None
    else:
        tracks = {}
    player = MediaPlayer(path, loop=True) if path else None
    tracks = tracks or {'a': player.audio if player else AudioStreamTrack(), 'v': player.video if player else VideoStreamTrack()}
    codec = os.environ.get('CODEC', 'H264').lower()
    for kind in os.environ.get('ORDER', 'av'):
        is_late = kind == 'v' and os.environ.get('VIDEO') == 'later'
        transceiver = connection.addTransceiver('video' if is_late else tracks[kind], direction='sendonly')
        if is_late:
            asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, transceiver.sender.replaceTrack, tracks[kind])
        if kind == 'v':
            offered = RTCRtpSender.getCapabilities('video').codecs
            transceiver.setCodecPreferences([c for c in offered if c.mimeType.lower() in ('video/' + codec, 'video/rtx')])


def count_keyframe_requests():
    """The encoder's own answer to PLI, counted."""
    requests, send = [], RTCRtpSender._send_keyframe

    def counted(sender):
        requests.append(sender)
        send(sender)
    RTCRtpSender._send_keyframe = counted
    return requests


def forge(sdp, attribute):
    """Changes the first two characters of an attribute's value, where WRONG says so."""
    if os.environ.get('WRONG') != {'fingerprint:sha-256 ': 'fingerprint', 'ice-pwd:': 'password'}[attribute]:
        return sdp
    return re.sub('(a=%s)(..)' % attribute, lambda match: match[1] + ('AB' if match[2] != 'AB' else 'CD'), sdp)


async def turn_servers(url, headers):
    """Those of an answer's Link fields (RFC 9725, 4.6)."""
    connection = RTCPeerConnection()
    add_tracks(connection, None)
    await connection.setLocalDescription(await connection.createOffer())
    async with aiohttp.ClientSession() as http:
        async with http.post(url, data=connection.localDescription.sdp, headers={**headers, 'Content-Type': 'application/sdp'}) as response:
            links = response.headers.getall('Link', [])
            await http.delete(urljoin(str(response.url), response.headers['Location']), headers=headers)
    await connection.close()
    servers = []
    for link in links:
        if match := re.match('<(turn:[^>]*)>.*username="([^"]*)"; credential="([^"]*)"', link):
            servers.append(RTCIceServer(match[1], match[2], match[3]))
    print('TURN', *(server.urls for server in servers), flush=True)
    return servers[:1]


def candidates_in_use(connection):
    ice = connection.getTransceivers()[0].sender.transport.transport._connection
    return ' '.join(sorted({pair.local_candidate.type for pair in ice._nominated.values()}))


async def main():
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.alarm(int(float(sys.argv[1])) + 200)
    seconds, url, token = float(sys.argv[1]), sys.argv[2], sys.argv[3]
    keyframe_requests = count_keyframe_requests()
    end = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGUSR2, end.set)
    headers = {'Authorization': 'Bearer ' + token}
    servers = await turn_servers(url, headers) if 'TURN' in os.environ else None
    connection = RTCPeerConnection(RTCConfiguration(iceServers=servers))
    add_tracks(connection, sys.argv[4] if len(sys.argv) > 4 else None)
    connection.on('connectionstatechange', lambda: print('state', connection.connectionState, flush=True))
    await connection.setLocalDescription(await connection.createOffer())
    async with aiohttp.ClientSession() as http:
        offer = connection.localDescription.sdp
        if 'WRONG' in os.environ:  # it has three hashes of one certificate
            offer = re.sub('a=fingerprint:sha-(384|512) .*\r\n', '', forge(offer, 'fingerprint:sha-256 '))
        posting = http.post(url, data=offer, headers={**headers, 'Content-Type': 'application/sdp'})
        async with posting as response:
            body = await response.text()
            print('POST', response.status, flush=True)
            if response.status != 201:
                print(body)
                await connection.close()
                return 1
            session = urljoin(str(response.url), response.headers['Location'])
        print('session', session, flush=True)
        await connection.setRemoteDescription(RTCSessionDescription(forge(body, 'ice-pwd:'), 'answer'))
        await asyncio.wait([asyncio.ensure_future(end.wait())], timeout=seconds)
        if servers:
            print('candidates', candidates_in_use(connection), flush=True)
        for report in (await connection.getStats()).values():
            if report.type == 'outbound-rtp':
                print('sent', report.kind, report.packetsSent, report.bytesSent)
        print('keyframe requests', len(keyframe_requests), flush=True)
        async with http.delete(session, headers=headers) as response:
            print('DELETE', response.status, flush=True)
    await connection.close()


sys.exit(asyncio.run(main()))
