#!/usr/bin/env python3
"""Watches a mountpoint of a Janus server as a browser would, and prints how many pictures and sounds it decoded.

usage: janus_viewer.py URL MOUNTPOINT SECONDS [SUBSTREAM:SIZE …]      then asks for each of these layers, until it has pictures of its size
"""
import asyncio
import json
import sys
import urllib.request

from aiortc import RTCPeerConnection, RTCSessionDescription
from aiortc.mediastreams import MediaStreamError

url, mountpoint, seconds = sys.argv[1], int(sys.argv[2]), float(sys.argv[3])


def call(path, body=None):
    data = json.dumps({**body, "transaction": "viewer"}).encode() if body else None
    with urllib.request.urlopen(urllib.request.Request(url + path, data), timeout=10) as response:
        return json.load(response)


async def event(session):
    """The next event of the session that carries something of the plugin's."""
    while True:
        answer = await asyncio.to_thread(call, f"/{session}")
        if answer.get("janus") == "event":
            return answer


async def count(track, frames):
    while True:
        try:
            frame = await track.recv()
        except MediaStreamError:
            return
        frames.append(frame.width * 10000 + frame.height if track.kind == "video" else 0)


async def main():
    session = call("", {"janus": "create"})["data"]["id"]
    handle = call(f"/{session}", {"janus": "attach", "plugin": "janus.plugin.streaming"})["data"]["id"]
    path = f"/{session}/{handle}"
    call(path, {"janus": "message", "body": {"request": "watch", "id": mountpoint}})
    offer = (await event(session))["jsep"]
    connection, pictures, sounds = RTCPeerConnection(), [], []

    @connection.on("track")
    def on_track(track):
        asyncio.ensure_future(count(track, pictures if track.kind == "video" else sounds))

    await connection.setRemoteDescription(RTCSessionDescription(offer["sdp"], offer["type"]))
    await connection.setLocalDescription(await connection.createAnswer())
    answer = {"type": "answer", "sdp": connection.localDescription.sdp}
    call(path, {"janus": "message", "body": {"request": "start"}, "jsep": answer})
    await asyncio.sleep(seconds)
    while len(pictures) <= 60 or len(sounds) <= 100:
        await asyncio.sleep(0.1)
    sizes = [pictures[-1]]
    for substream, size in (map(int, wanted.split(":")) for wanted in sys.argv[4:]):
        call(path, {"janus": "message", "body": {"request": "configure", "mid": "v", "substream": substream}})
        while pictures[-1] != size:
            await asyncio.sleep(0.1)
        sizes.append(pictures[-1])
    print(json.dumps({"pictures": len(pictures), "sounds": len(sounds), "size": sizes[0], "sizes": sizes}))
    await connection.close()


asyncio.run(main())
