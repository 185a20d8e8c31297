#!/usr/bin/env python3
"""whep_layers.py SWITCHES TOKEN URL: a WHEP subscriber that asks for one layer after the other, at random, by the draft's layer extension.

Waits after each until a picture of that layer's size is decoded, then prints one line of JSON: how many switches were seen, pictures
decoded, faults that the decoder told of, packets whose number does not follow the one before, timestamps that went back,
packets that had to be sent again, and datagrams that the kernel dropped because this process came to read them too late.
"""
import asyncio
import contextlib
import json
import logging
import os
import random
import signal
import sys
from urllib.parse import urljoin

import aiohttp
import av.logging
from aiortc import RTCPeerConnection, RTCRtpReceiver, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

import patient  # by being imported

seen = {'switches': 0, 'pictures': 0, 'faults': [], 'gaps': 0, 'backward': 0, 'repeats': 0, 'dropped': 0}


class Faults(logging.Handler):
    def emit(self, record):
        seen['faults'].append(record.getMessage()[:200])


def watch_faults():
    av.logging.set_level(av.logging.ERROR)
    for name in ('libav', 'aiortc.codecs.h264'):
        logger = logging.getLogger(name)
        logger.addHandler(Faults())
        logger.propagate = False


def watch_numbers(receiver):
    """Looks at every packet of the media source before the jitter buffer does."""
    handle, former = receiver._handle_rtp_packet, None

    async def handler(packet, arrival_time_ms):
        nonlocal former
        codec = receiver._RTCRtpReceiver__codecs.get(packet.payload_type)
        name = codec.name.lower() if codec is not None else ''
        seen['repeats'] += name == 'rtx'
        if name == 'h264':
            if former is not None:
                seen['gaps'] += (former[0] + 1) & 0xFFFF != packet.sequence_number
                seen['backward'] += (packet.timestamp - former[1]) & 0x80000000 != 0
            former = (packet.sequence_number, packet.timestamp)
        await handle(packet, arrival_time_ms)

    receiver._handle_rtp_packet = handler


def dropped():
    own = set()
    for each in os.listdir('/proc/self/fd'):
        with contextlib.suppress(OSError):
            own.add(os.readlink('/proc/self/fd/' + each))
    with open('/proc/self/net/udp') as table:
        rows = [line.split() for line in table][1:]
    return sum(int(row[12]) for row in rows if f'socket:[{row[9]}]' in own)


class Viewer:
    def __init__(self, token):
        self.connection = RTCPeerConnection()
        self.headers = {'Authorization': 'Bearer ' + token}
        self.height, self.changed = 0, asyncio.Event()

    async def start(self, http, url):
        video = self.connection.addTransceiver('video', direction='recvonly')
        offered = RTCRtpReceiver.getCapabilities('video').codecs
        video.setCodecPreferences([c for c in offered if c.mimeType.lower() in ('video/h264', 'video/rtx')])
        self.connection.addTransceiver('audio', direction='recvonly')
        self.connection.on('track', lambda track: asyncio.ensure_future(self.consume(track)))
        await self.connection.setLocalDescription(await self.connection.createOffer())
        typed = {**self.headers, 'Content-Type': 'application/sdp'}
        async with http.post(url, data=self.connection.localDescription.sdp, headers=typed) as response:
            assert response.status == 201, await response.text()
            self.session = urljoin(str(response.url), response.headers['Location'])
            body = await response.text()
        await self.connection.setRemoteDescription(RTCSessionDescription(body, 'answer'))
        watch_numbers(video.receiver)

    async def consume(self, track):
        try:
            while True:
                frame = await track.recv()
                if track.kind == 'video':
                    seen['pictures'] += 1
                    self.height = frame.height
                    self.changed.set()
        except MediaStreamError:
            pass

    async def has(self, height):
        while self.height != height:
            self.changed.clear()
            await self.changed.wait()

    async def layers(self, http):
        """Height by name, once all are known."""
        while True:
            async with http.get(self.session + '/layer', headers=self.headers) as response:
                state = (await response.json())['0']
            heights = {layer['encodingId']: layer['height'] for layer in state['active']}
            if len(heights) == 3 and all(heights.values()):
                return heights
            await asyncio.sleep(0.5)

    async def choose(self, http, name):
        async with http.post(
                self.session + '/layer', json={'mediaId': '0', 'encodingId': name}, headers=self.headers) as response:
            if response.status == 429:
                await asyncio.sleep(float(response.headers['Retry-After']))
                return await self.choose(http, name)
            assert response.status < 300, await response.text()


async def main():
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    count, token, url = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    signal.alarm(400 + 5 * count)
    watch_faults()
    viewer, former = Viewer(token), None
    async with aiohttp.ClientSession() as http:
        await viewer.start(http, url)
        heights = await viewer.layers(http)
        for _ in range(count):
            former = random.choice([name for name in heights if name != former])
            await viewer.choose(http, former)
            await viewer.has(heights[former])
            seen['switches'] += 1
        async with http.delete(viewer.session, headers=viewer.headers) as response:
            assert response.status == 200, response.status
    seen['dropped'] = dropped()
    await viewer.connection.close()
    print(json.dumps(seen), flush=True)


asyncio.run(main())
