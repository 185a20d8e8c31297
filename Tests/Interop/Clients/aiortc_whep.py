#!/usr/bin/env python3
"""aiortc_whep.py SECONDS TOKEN URL...: one WHEP subscriber on aiortc for each URL.

Prints one line per event: each POST's status (with the problem document when it is refused), each connection's first decoded
picture and sound, and at the end, which SIGINT brings nearer, what each decoded: pictures, their size, their greatest difference of
brightness, sound, how often a picture's time was not after the one before; how long it waited for pictures, in ms from 100 on; and
the bits of datagrams that came, and those of media in them without what was sent again, a second of the time that is counted.
Environment: DROP=N drops every Nth video packet on its first arrival; HOLD=1 sends no DELETE; PLI=1 asks for a keyframe
each second; PLACES=N only makes N sessions (of several tokens with commas between them, in turns), deletes them, and does it
again; with KEEP=1 it leaves the first ones as they are; PICTURE=1 counts the seconds from when each has its first picture;
UNTIL=PICTURES,SOUNDS goes on after them until each has decoded so many.
"""
import array
import asyncio
import contextlib
import os
import signal
import sys
import time
from urllib.parse import urljoin

import aiohttp
from aiortc import RTCPeerConnection, RTCRtpReceiver, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

import patient  # by being imported

START = time.time()


def say(*words):
    print(*words, flush=True)


class Subscriber:
    def __init__(self, number):
        self.number = number
        self.connection = RTCPeerConnection()
        self.pictures = self.sounds = self.contrast = self.loudness = 0
        self.size = ''
        self.stamps = {'video': [], 'audio': []}
        self.tasks = []
        self.session = None
        self.before = (0, time.time(), 0)
        self.payload = 0

    async def start(self, http, url, token):
        video = self.connection.addTransceiver('video', direction='recvonly')
        offered = RTCRtpReceiver.getCapabilities('video').codecs
        video.setCodecPreferences([c for c in offered if c.mimeType.lower() in ('video/h264', 'video/rtx')])
        audio = self.connection.addTransceiver('audio', direction='recvonly')
        count_media(self, video.receiver)
        count_media(self, audio.receiver)
        self.connection.on('track', lambda track: self.tasks.append(asyncio.ensure_future(self.consume(track))))
        self.connection.on('connectionstatechange', lambda: say('state', self.number, self.connection.connectionState))
        await self.connection.setLocalDescription(await self.connection.createOffer())
        headers = {'Authorization': 'Bearer ' + token, 'Content-Type': 'application/sdp'}
        async with http.post(url, data=self.connection.localDescription.sdp, headers=headers) as response:
            body = await response.text()
            say('POST', self.number, response.status, '' if response.status == 201 else body)
            if response.status != 201:
                return False
            self.session = urljoin(str(response.url), response.headers['Location'])
            assert response.headers['ETag'].startswith('"') and '/whep/sessions/' in self.session
        await self.connection.setRemoteDescription(RTCSessionDescription(body, 'answer'))
        if os.environ.get('DROP'):
            lose(video.receiver, int(os.environ['DROP']))
        if os.environ.get('PLI'):
            self.tasks.append(asyncio.ensure_future(self.ask(video.receiver)))
        return True

    async def ask(self, receiver):
        while True:
            await asyncio.sleep(1)
            for ssrc in list(receiver._RTCRtpReceiver__active_ssrc):
                await receiver._send_rtcp_pli(ssrc)

    async def consume(self, track):
        try:
            while True:
                frame = await track.recv()
                self.stamps[track.kind].append((time.time() - START, float(frame.pts * frame.time_base)))
                if track.kind == 'video':
                    if not self.pictures:
                        say('first picture', self.number)
                    self.pictures += 1
                    self.size = f'{frame.width}x{frame.height}'
                    if self.pictures % 25 == 1:
                        luma = bytes(frame.planes[0])[:frame.planes[0].line_size * frame.height:97]
                        self.contrast = max(self.contrast, max(luma) - min(luma))
                else:
                    self.sounds += 1
                    self.loudness = max(self.loudness, max(array.array('h', bytes(frame.planes[0]))))
        except MediaStreamError:
            say('ended', self.number, track.kind)

    async def received(self):
        """Bytes of datagrams, when, and of media."""
        reports = (await self.connection.getStats()).values()
        return sum(r.bytesReceived for r in reports if r.type == 'transport'), time.time(), self.payload

    def steps_back(self):
        """Pictures whose time is not after the one before."""
        times = [time for _, time in self.stamps['video']]
        return sum(after <= before for before, after in zip(times, times[1:]))

    def gaps(self):
        """Milliseconds between pictures that came 100 or more apart."""
        moments = [moment for moment, _ in self.stamps['video']]
        gaps = (round((after - before) * 1000) for before, after in zip(moments, moments[1:]))
        return [gap for gap in gaps if gap >= 100]

    async def stop(self, http, token):
        count, now, payload = await self.received()
        say('received', self.number, round((count - self.before[0]) * 8 / (now - self.before[1])))
        say('media', self.number, round((payload - self.before[2]) * 8 / (now - self.before[1])))
        reports = (await self.connection.getStats()).values()
        lost = sum(r.packetsLost for r in reports if r.type == 'inbound-rtp')
        say('decoded', self.number, 'pictures', self.pictures, 'size', self.size, 'contrast', self.contrast, 'sounds',
            self.sounds, 'loudness', self.loudness, 'lost', lost, 'back', self.steps_back())
        say('gaps', self.number, *self.gaps())
        if self.session and not os.environ.get('HOLD'):
            async with http.delete(self.session, headers={'Authorization': 'Bearer ' + token}) as response:
                say('DELETE', self.number, response.status)
        for task in self.tasks:
            task.cancel()
        await self.connection.close()


def count_media(subscriber, receiver):
    """Adds up payloads; what comes by RTX came before, or should have."""
    handle = receiver._handle_rtp_packet

    async def handler(packet, arrival_time_ms):
        codec = receiver._RTCRtpReceiver__codecs.get(packet.payload_type)
        if codec is not None and codec.name.lower() != 'rtx':
            subscriber.payload += len(packet.payload)
        await handle(packet, arrival_time_ms)

    receiver._handle_rtp_packet = handler


def lose(receiver, every):
    """Lets every Nth packet of the media source fall, once: what comes by RTX passes."""
    handle, count = receiver._handle_rtp_packet, 0

    async def handler(packet, arrival_time_ms):
        nonlocal count
        codec = receiver._RTCRtpReceiver__codecs.get(packet.payload_type)
        is_repeat = codec is not None and codec.name.lower() == 'rtx'
        count += not is_repeat
        if is_repeat:
            handler.repeats += 1
        elif count % every == 0:
            return
        await handle(packet, arrival_time_ms)

    handler.repeats = 0
    receiver._handle_rtp_packet = handler
    receivers.append(handler)


receivers = []


async def fill(count, token, url):
    """POSTs one offer many times and connects none: what is answered, then again after all have been deleted."""
    connection = RTCPeerConnection()
    connection.addTransceiver('video', direction='recvonly')
    await connection.setLocalDescription(await connection.createOffer())
    bearers = [{'Authorization': 'Bearer ' + each} for each in token.split(',')]
    async with aiohttp.ClientSession() as http:
        for turn in ('first', 'again'):
            sessions = []
            for number in range(count):
                headers = bearers[number % len(bearers)]
                typed = {**headers, 'Content-Type': 'application/sdp'}
                async with http.post(url, data=connection.localDescription.sdp, headers=typed) as response:
                    if response.status == 201:
                        sessions.append((urljoin(str(response.url), response.headers['Location']), headers))
                    else:
                        say(turn, 'refused', response.status, (await response.json())['code'], response.headers['Retry-After'])
            say(turn, 'created', len(sessions))
            if os.environ.get('KEEP'):
                break
            for session, headers in sessions:
                async with http.delete(session, headers=headers) as response:
                    assert response.status == 200, response.status
    await connection.close()


async def main():
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    seconds, token, urls = float(sys.argv[1]), sys.argv[2], sys.argv[3:]
    signal.alarm(int(seconds) + (560 if 'UNTIL' in os.environ else 200))
    if os.environ.get('PLACES'):
        return await fill(int(os.environ['PLACES']), token, urls[0])
    is_over = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGINT, is_over.set)
    subscribers = [Subscriber(number) for number in range(len(urls))]
    async with aiohttp.ClientSession() as http:
        started = [await s.start(http, url, token) for s, url in zip(subscribers, urls)]
        watching = [subscriber for subscriber, is_started in zip(subscribers, started) if is_started]
        while os.environ.get('PICTURE') and not all(subscriber.pictures for subscriber in watching):
            await asyncio.sleep(0.1)
        for subscriber in watching:
            subscriber.before = await subscriber.received()
        with contextlib.suppress(asyncio.TimeoutError):
            await asyncio.wait_for(is_over.wait(), seconds if any(started) else 0)
        pictures, sounds = map(int, os.environ.get('UNTIL', '0,0').split(','))
        while not is_over.is_set() and any(s.pictures < pictures or s.sounds < sounds for s in watching):
            await asyncio.sleep(0.1)
        for handler in receivers:
            say('repeats', handler.repeats)
        for subscriber in subscribers:
            await subscriber.stop(http, token)


asyncio.run(main())
