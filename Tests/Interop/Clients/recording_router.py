#!/usr/bin/env python3
"""The stage router of docs/examples, which also tells what it is asked: one JSON line for each POST, PATCH and DELETE.

Prints its port first. A line is {"method", "participantId", "generation", "packets"}: the packets are those that the former
generation of the participant had got.
"""
import json
import pathlib
import signal
import sys
import threading
from http.server import ThreadingHTTPServer
from urllib.parse import parse_qs, urlparse

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / 'docs/examples'))
import stage_router  # noqa: E402


class Recorder(stage_router.Handler):
    def tell(self, name, generation):
        former = stage_router.participants.get(name)
        packets = sum(track['packets'] for track in former.tracks.values()) if former else 0
        line = {'method': self.command, 'participantId': name, 'generation': generation, 'packets': packets}
        print(json.dumps(line), flush=True)

    def body(self):
        value = super().body()
        if self.command != 'PUT':
            name = value.get('participantId') or self.path.rsplit('/', 1)[-1]
            self.tell(name, value['generation'])
        return value

    def do_DELETE(self):
        asked = urlparse(self.path)
        self.tell(asked.path.rsplit('/', 1)[-1], int(parse_qs(asked.query).get('generation', ['0'])[0]))
        super().do_DELETE()


signal.pthread_sigmask(signal.SIG_SETMASK, [])
server = ThreadingHTTPServer(('127.0.0.1', 0), Recorder)
threading.Thread(target=stage_router.expire, daemon=True).start()
print(server.server_address[1], flush=True)
server.serve_forever()
