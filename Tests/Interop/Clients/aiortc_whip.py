#!/usr/bin/env python3
"""aiortc_whip.py SECONDS URL TOKEN [FILE]: a WHIP publisher on aiortc.

Prints one line per event: the POST's status, connection states, what was sent, the DELETE's status.
Environment: ORDER=av|va|v (order of m-lines), CODEC=H264|VP8.
"""
import asyncio
import os
import signal
import sys
from urllib.parse import urljoin

import aiohttp
from aiortc import AudioStreamTrack, RTCPeerConnection, RTCRtpSender, RTCSessionDescription, VideoStreamTrack
from aiortc.contrib.media import MediaPlayer


def add_tracks(connection, path):
    player = MediaPlayer(path, loop=True) if path else None
    tracks = {'a': player.audio if player else AudioStreamTrack(), 'v': player.video if player else VideoStreamTrack()}
    codec = os.environ.get('CODEC', 'H264').lower()
    for kind in os.environ.get('ORDER', 'av'):
        transceiver = connection.addTransceiver(tracks[kind], direction='sendonly')
        if kind == 'v':
            offered = RTCRtpSender.getCapabilities('video').codecs
            transceiver.setCodecPreferences([c for c in offered if c.mimeType.lower() in ('video/' + codec, 'video/rtx')])


async def main():
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    signal.alarm(int(float(sys.argv[1])) + 30)
    seconds, url, token = float(sys.argv[1]), sys.argv[2], sys.argv[3]
    connection = RTCPeerConnection()
    add_tracks(connection, sys.argv[4] if len(sys.argv) > 4 else None)
    connection.on('connectionstatechange', lambda: print('state', connection.connectionState, flush=True))
    await connection.setLocalDescription(await connection.createOffer())
    headers = {'Authorization': 'Bearer ' + token}
    async with aiohttp.ClientSession() as http:
        posting = http.post(url, data=connection.localDescription.sdp, headers={**headers, 'Content-Type': 'application/sdp'})
        async with posting as response:
            body = await response.text()
            print('POST', response.status, flush=True)
            if response.status != 201:
                print(body)
                await connection.close()
                return 1
            session = urljoin(str(response.url), response.headers['Location'])
        await connection.setRemoteDescription(RTCSessionDescription(body, 'answer'))
        await asyncio.sleep(seconds)
        for report in (await connection.getStats()).values():
            if report.type == 'outbound-rtp':
                print('sent', report.kind, report.packetsSent, report.bytesSent)
        async with http.delete(session, headers=headers) as response:
            print('DELETE', response.status, flush=True)
    await connection.close()


sys.exit(asyncio.run(main()))
