"""Servers from Debian's packages that take turns with ours under the same load; `scripts/install-deps --peers` unpacks them."""
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from gateway_run import ROOT, free_port

PEERS = ROOT / ".deps/peers"


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
        for _ in range(500):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    return
            time.sleep(0.01)
        raise RuntimeError("nginx did not start")

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(10)
        shutil.rmtree(self.folder, ignore_errors=True)
