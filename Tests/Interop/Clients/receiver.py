#!/usr/bin/env python3
"""An application's side: takes webhooks at /hook, the first one with 500, and says at /authorize whether a publish may begin.

Prints its port, then one JSON line for each request: {"path", "signed", "body"}. Refuses publishes once the file of the first
argument exists.
"""
import hashlib
import hmac
import http.server
import json
import os
import sys

SECRET = b"webhook-secret"
hooks = 0


class Receiver(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        global hooks
        body = self.rfile.read(int(self.headers["Content-Length"]))
        fields = dict(part.split("=", 1) for part in self.headers.get("Stagedoor-Signature", "t=,v1=").split(","))
        expected = hmac.new(SECRET, fields["t"].encode() + b"." + body, hashlib.sha256).hexdigest()
        status, answer = 200, b"{}"
        if self.path == "/hook":
            hooks += 1
            status = 500 if hooks == 1 else 200
        elif os.path.exists(sys.argv[1]):
            status, answer = 403, b'{"message":"closed today"}'
        line = {"path": self.path, "status": status, "signed": expected == fields["v1"], "body": json.loads(body)}
        os.write(1, json.dumps(line).encode() + b"\n")
        self.send_response(status)
        self.send_header("Content-Length", str(len(answer)))
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Receiver)
print(server.server_port, flush=True)
server.serve_forever()
