#!/usr/bin/env python3
"""Watches a mountpoint of a Janus server as a browser would, and prints how many pictures and sounds it decoded.

usage: janus_viewer.py URL MOUNTPOINT SECONDS [SUBSTREAM:SIZE …]      then asks for each of these layers, until it has pictures of its size

As players do it watches anew where media does not come, twice; then it ends with what it knows of each connection.
"""
import asyncio
import json
import sys
import time
import urllib.request

from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

import patient  # by being imported

url, mountpoint, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])
layers = [tuple(map(int, wanted.split(":"))) for wanted in sys.argv[4:]]
PATIENCE = 100


def call(path, body=None):
    data = json.dumps({**body, "transaction": "viewer"}).encode() if body else None
    with urllib.request.urlopen(urllib.request.Request(url + path, data), timeout=40) as response:
        return json.load(response)


class Viewer:
    """One session at Janus, and its connection."""

    def __init__(self):
        self.connection, self.pictures, self.sounds = RTCPeerConnection(), [], []
        self.connection.on("track", lambda track: asyncio.ensure_future(self.count(track)))

    async def count(self, track):
        frames = self.pictures if track.kind == "video" else self.sounds
        while True:
            try:
                frame = await track.recv()
            except MediaStreamError:
                return
            frames.append(frame.width * 10000 + frame.height if track.kind == "video" else 0)

    async def watch(self):
        self.session = f"/{call('', {'janus': 'create'})['data']['id']}"
        handle = call(self.session, {"janus": "attach", "plugin": "janus.plugin.streaming"})["data"]["id"]
        self.path = f"{self.session}/{handle}"
        self.message({"request": "watch", "id": mountpoint})
        offer = (await self.event())["jsep"]
        await self.connection.setRemoteDescription(RTCSessionDescription(offer["sdp"], offer["type"]))
        await self.connection.setLocalDescription(await self.connection.createAnswer())
        self.message({"request": "start"}, jsep={"type": "answer", "sdp": self.connection.localDescription.sdp})
        self.living = asyncio.ensure_future(self.live())

    def message(self, body, **more):
        call(self.path, {"janus": "message", "body": body, **more})

    async def event(self):
        """The next event of the session that carries something of the plugin's."""
        while True:
            answer = await asyncio.to_thread(call, self.session)
            if answer.get("janus") == "event":
                return answer

    async def live(self):
        """Janus forgets a session that says nothing for a minute."""
        while True:
            await asyncio.sleep(20)
            await asyncio.to_thread(call, self.session, {"janus": "keepalive"})

    async def until(self, holds):
        """Whether it came to hold while Janus and the machine were given their time."""
        late = time.monotonic() + PATIENCE
        while not holds() and time.monotonic() < late:
            await asyncio.sleep(0.1)
        return holds()

    async def has_media(self):
        await asyncio.sleep(seconds)
        return await self.until(lambda: len(self.pictures) > 60 and len(self.sounds) > 100)

    async def has_layer(self, substream, size):
        self.message({"request": "configure", "mid": "v", "substream": substream})
        return await self.until(lambda: self.pictures[-1] == size)

    async def story(self):
        """What there is to know of a connection without media."""
        reports = (await self.connection.getStats()).values()
        came = {f"{r.type} {getattr(r, 'kind', '')}": r.packetsReceived for r in reports if hasattr(r, "packetsReceived")}
        states = self.connection.iceConnectionState, self.connection.connectionState
        return f"{states}, packets {came}, {len(self.pictures)} pictures, {len(self.sounds)} sounds"

    async def close(self):
        self.living.cancel()
        await self.connection.close()


async def watch_media():
    """A viewer that has media, or None, and what became of those before it."""
    stories = []
    while len(stories) < 3:
        viewer = Viewer()
        await viewer.watch()
        if await viewer.has_media():
            return viewer, stories
        stories.append(await viewer.story())
        await viewer.close()
    return None, stories


async def main():
    viewer, stories = await watch_media()
    if not viewer:
        sys.exit(f"no media: {stories}")
    sizes = [viewer.pictures[-1]]
    for layer in layers:
        if not await viewer.has_layer(*layer):
            stories.append(f"not {layer}: {await viewer.story()}")
        sizes.append(viewer.pictures[-1])
    seen = {"pictures": len(viewer.pictures), "sounds": len(viewer.sounds), "size": sizes[0], "sizes": sizes}
    print(json.dumps({**seen, "stories": stories}))
    await viewer.close()


asyncio.run(main())
