"""The store that scripts/soak records into: moto's, and before it a front that dies and comes back at the same port."""
import json
import socket
import subprocess
import threading

from gateway_run import PYTHON, ROOT, free_port

BUCKET = "soak"
STORE = ROOT / "Tests/Interop/Clients/s3_store.py"


class MortalStore:
    def __init__(self):
        self.store = subprocess.Popen([PYTHON, STORE, "serve", BUCKET], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.upstream, self.port = json.loads(self.store.stdout.readline())["port"], free_port()
        self.links: set[socket.socket] = set()
        self.listener: socket.socket | None = None
        self.live()

    @property
    def setting(self) -> str:
        return (f"storage: {{{BUCKET}: {{endpoint: \"http://127.0.0.1:{self.port}\", accessKey: AKIDEXAMPLE, secretKey: secret-of-s3,"
                " pathStyle: true}}")

    def live(self):
        self.listener = socket.create_server(("127.0.0.1", self.port))
        # A thread that waits for connections does not hear that its socket was closed.
        self.listener.settimeout(0.2)
        threading.Thread(target=self.serve, args=[self.listener], daemon=True).start()

    def die(self):
        self.listener.close()
        for link in list(self.links):
            link.close()

    def serve(self, listener: socket.socket):
        while True:
            try:
                client, _ = listener.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            client.settimeout(None)
            upstream = socket.create_connection(("127.0.0.1", self.upstream))
            for source, target in (client, upstream), (upstream, client):
                threading.Thread(target=self.pass_on, args=[source, target], daemon=True).start()

    def pass_on(self, source: socket.socket, target: socket.socket):
        self.links.add(source)
        try:
            while data := source.recv(1 << 16):
                target.sendall(data)
        except OSError:
            pass
        for link in source, target:
            link.close()
        self.links.discard(source)

    def objects(self) -> list[str]:
        """Keys of all that was stored."""
        read = subprocess.run(
            [PYTHON, STORE, "read", f"http://127.0.0.1:{self.upstream}", BUCKET], check=True, capture_output=True, text=True)
        return list(json.loads(read.stdout))

    def close(self):
        self.die()
        self.store.kill()
        self.store.communicate()
