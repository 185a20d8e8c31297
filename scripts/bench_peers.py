"""Servers from Debian's packages that take turns with ours under the same load; `scripts/install-deps --peers` unpacks them."""
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from bench_load import whip
from gateway_run import ROOT, free_port
from janus_whip import WHIPFront

PEERS = ROOT / ".deps/peers"
# What either may take to begin, on a busy machine.
START_SECONDS = 20


class Nginx:
    """nginx with its RTMP module, taking streams and doing nothing with them: less than a gateway does."""
    name = "nginx-rtmp"

    @staticmethod
    def is_installed() -> bool:
        return (PEERS / "usr/sbin/nginx").exists()

    def __init__(self):
        self.folder, port = tempfile.mkdtemp(prefix="bench-nginx-"), free_port()
        settings = pathlib.Path(self.folder, "nginx.conf")
        settings.write_text(f"""
load_module {PEERS}/usr/lib/nginx/modules/ngx_rtmp_module.so;
daemon off; master_process off; error_log {self.folder}/error.log; pid {self.folder}/pid;
events {{ worker_connections 20000; }}
rtmp {{ access_log off; server {{ listen 127.0.0.1:{port}; chunk_size 4096; application live {{ live on; }} }} }}
""")
        self.process = subprocess.Popen(
            [PEERS / "usr/sbin/nginx", "-p", self.folder, "-c", settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.pid, self.url, self.port = self.process.pid, f"rtmp://127.0.0.1:{port}/live", port
        wait_until_it_listens(self.name, port)

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)


class Janus:
    """Janus with its VideoRoom plugin, which forwards publishers as RTP; `scripts/install-deps --test` installs it.

    It speaks no WHIP: `janus_whip.py` asks it for a room and a forwarder for each publisher, in a process of its own. It is a full ICE
    agent and takes no loopback interface, so packets go to an address of this machine and never leave it.
    """
    name = "Janus"
    PROGRAM = pathlib.Path("/usr/bin/janus")

    @classmethod
    def is_installed(cls) -> bool:
        return cls.PROGRAM.exists()

    def __init__(self):
        self.folder, port = tempfile.mkdtemp(prefix="bench-janus-"), free_port()
        self.api = f"http://127.0.0.1:{port}/janus"
        library = next(pathlib.Path("/usr/lib").glob("*-linux-gnu/janus"))
        for name, text in {
            "janus.jcfg": f"""
general: {{ plugins_folder = "{library}/plugins"; transports_folder = "{library}/transports"; events_folder = "{library}/events";
            loggers_folder = "{library}/loggers"; debug_level = 2; session_timeout = 0 }}
# It makes html/recordings in the working directory, which is ours.
plugins: {{ disable = "libjanus_voicemail.so" }}
media: {{ ipv6 = false }}
""",
            "janus.transport.http.jcfg":
                f'general: {{ http = true; port = {port}; ip = "127.0.0.1"; https = false }}\nadmin: {{ admin_http = false }}',
            "janus.plugin.videoroom.jcfg": "general: { }",
        }.items():
            pathlib.Path(self.folder, name).write_text(text)
        with open(pathlib.Path(self.folder, "log"), "w") as log:
            self.process = subprocess.Popen([self.PROGRAM, "-F", self.folder], stdout=log, stderr=log)
        wait_until_it_listens(self.name, port)

    def forwarding(self, count: int, seconds: float, ports: tuple[int, int], *options):
        front = WHIPFront(self.api, ports[0] + ports[0] % 2)
        try:
            return whip(front.url, [f"nobody{number}" for number in range(count)], seconds, self.process.pid, ports, *options)
        finally:
            front.close()

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


def wait_until_it_listens(name: str, port: int):
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.01)
    raise RuntimeError(f"{name} did not start")
