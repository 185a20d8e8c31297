"""The WHIP endpoint that Janus lacks: each POST becomes a VideoRoom with one publisher, forwarded as RTP to two ports.

POST /whip/NUMBER answers 201 with Janus's SDP; the video goes to port FIRST + 4 * NUMBER of 127.0.0.1, the audio two above it,
as a static router's ports lie. DELETE ends the Janus session.
"""
import http.server
import itertools
import json
import threading
import urllib.request

PATIENCE_SECONDS = 20
# Where nobody is: an agent begins to look for its peer when it has been told of one place, and learns the real one from its checks.
NOWHERE = "a=candidate:1 1 udp 1 127.0.0.1 9 typ host\r\na=end-of-candidates\r\n"


class JanusAPI:
    def __init__(self, url: str):
        self.url, self.transactions = url, itertools.count()

    def ask(self, path: str, **message) -> dict:
        body = json.dumps({**message, "transaction": f"t{next(self.transactions)}"}).encode()
        with urllib.request.urlopen(urllib.request.Request(self.url + path, body), timeout=PATIENCE_SECONDS) as answer:
            return json.load(answer)

    def event(self, session: str) -> dict:
        """The next event that carries something, which is waited for."""
        while True:
            with urllib.request.urlopen(f"{self.url}{session}?maxev=1", timeout=PATIENCE_SECONDS + 30) as answer:
                event = json.load(answer)
            if "jsep" in event or "error" in event:
                return event

    def publish(self, number: int, offer: str, first_port: int) -> tuple[str, str]:
        """Path of the session, and the answer."""
        offer = offer.replace("m=video", NOWHERE + "m=video") + NOWHERE
        session = f"/{self.ask('', janus='create')['data']['id']}"
        handle = f"{session}/{self.ask(session, janus='attach', plugin='janus.plugin.videoroom')['data']['id']}"

        def message(body: dict, **more) -> dict:
            return self.ask(handle, janus="message", body=body, **more).get("plugindata", {}).get("data", {})

        message({"request": "create", "room": number + 1, "publishers": 1, "audiocodec": "opus", "videocodec": "h264", "bitrate": 0,
                 "transport_wide_cc_ext": False})
        message({"request": "joinandconfigure", "room": number + 1, "ptype": "publisher", "id": 1}, jsep={"type": "offer", "sdp": offer})
        answer = self.event(session)["jsep"]["sdp"]
        port = first_port + 4 * number
        message({"request": "rtp_forward", "room": number + 1, "publisher_id": 1, "host": "127.0.0.1", "streams": [
            {"mid": "1", "host": "127.0.0.1", "port": port}, {"mid": "0", "host": "127.0.0.1", "port": port + 2}]})
        return session, answer

    def destroy(self, session: str):
        self.ask(session, janus="destroy")


class Endpoint(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        offer = self.rfile.read(int(self.headers["Content-Length"])).decode()
        try:
            session, answer = self.server.janus.publish(int(self.path.rsplit("/", 1)[1]), offer, self.server.first_port)
        except (OSError, KeyError, ValueError) as error:
            return self.reply(502, str(error).encode())
        self.reply(201, answer.encode(), ("Content-Type", "application/sdp"), ("Location", session))

    def do_DELETE(self):
        self.server.janus.destroy(self.path)
        self.reply(200, b"")

    def reply(self, status: int, body: bytes, *headers):
        self.send_response(status)
        for name, value in (*headers, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """A publisher that ends without a goodbye is no news."""


class WHIPFront:
    """Serves on a free port until it is closed."""

    def __init__(self, janus_url: str, first_port: int):
        self.server = Server(("127.0.0.1", 0), Endpoint)
        self.server.janus, self.server.first_port = JanusAPI(janus_url), first_port
        self.url = f"http://127.0.0.1:{self.server.server_port}/whip/{{}}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()
