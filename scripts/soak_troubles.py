"""What scripts/soak does to the gateway beside its live streams, each trouble on a thread of its own."""
import collections
import random
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from gateway_run import PROGRAMS, PYTHON, ROOT

# Keys and tokens that churning sessions share: more than sessions live at a time.
KEY_COUNT = 30


class Troubles:
    def __init__(self, gateway, flv, churn: float, mortal_ports: str, live, store):
        self.gateway, self.flv, self.churn, self.mortal_ports = gateway, flv, churn, mortal_ports
        self.live, self.store = live, store
        self.counts: collections.Counter = collections.Counter()
        self.stopping = threading.Event()
        self.keys, self.tokens = gateway.keys(KEY_COUNT), gateway.tokens(KEY_COUNT)
        bodies = [self.come_and_go, self.talk_nonsense, self.restart_router, self.lose_store, self.lose_encoder, self.use_api]
        self.threads = [threading.Thread(target=self.repeat, args=[body], daemon=True) for body in bodies]
        self.running: list[tuple[float, subprocess.Popen]] = []

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join(20)
        for _, program in self.running:
            program.kill()
            program.wait()

    def repeat(self, body):
        while not self.stopping.is_set():
            try:
                body()
            except (OSError, subprocess.SubprocessError) as error:
                self.counts[f"{body.__name__}: {type(error).__name__}"] += 1
                self.stopping.wait(0.2)

    # MARK: Sessions

    def come_and_go(self):
        """Every session lives up to 3 s; a third of them is killed without a word, the others say goodbye, or reset."""
        self.stopping.wait(random.expovariate(self.churn))
        if self.stopping.is_set():
            return
        quick, seconds, number = self.gateway.quickstart, random.uniform(0.1, 3), self.counts["sessions"]
        if random.random() < 0.7:
            command = ["rtmp", quick["rtmpURL"], "--key", self.keys[number % KEY_COUNT], "--ending", random.choice(["fin", "rst"])]
        else:
            command = ["whip", quick["whipURL"], "--token", self.tokens[number % KEY_COUNT]]
        program = subprocess.Popen(
            [PROGRAMS / "stagedoor-bench", *command, "--flv", str(self.flv), "--seconds", f"{seconds:.2f}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.counts["sessions"] += 1
        self.running.append((time.monotonic() + random.uniform(0.1, 1) * seconds if random.random() < 0.33 else 0, program))
        self.reap()

    def reap(self):
        still = []
        for due, program in self.running:
            if program.poll() is not None:
                continue
            if due and time.monotonic() > due:
                program.kill()
                program.wait()
                self.counts["killed"] += 1
            else:
                still.append((due, program))
        self.running = still

    # MARK: Nonsense

    def talk_nonsense(self):
        """Noise, and half of something, at every port."""
        self.stopping.wait(0.2)
        quick = self.gateway.quickstart
        for name in ["rtmpURL", "whipURL", "adminURL"]:
            parts = urllib.parse.urlsplit(quick[name])
            with socket.create_connection((parts.hostname, parts.port), timeout=5) as connection:
                beginning = random.choice([b"\x03", b"\x16\x03\x01", b"GET / HTTP/1.1\r\n", b"POST /whip HTTP/1.1\r\nContent-Length: 99\r\n\r\n", b""])
                connection.sendall(beginning + random.randbytes(random.randrange(4_000)))
        self.throw_datagrams(self.gateway.media_port)
        request = urllib.request.Request(quick["whipURL"], data=random.randbytes(random.randrange(2_000)), headers={
            "Content-Type": "application/sdp", "Authorization": f"Bearer {random.choice(['x', 'a.b.c', self.tokens[0]])}"})
        try:
            urllib.request.urlopen(request, timeout=5).close()
        except urllib.error.HTTPError as error:
            self.counts[f"POST refused {error.code}"] += 1
        self.counts["nonsense"] += 1

    @staticmethod
    def throw_datagrams(port: int):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for first in [0, 1, 20, 22, 63, 128, 191, 255]:
                sender.sendto(bytes([first]) + random.randbytes(random.randrange(1_400)), ("127.0.0.1", port))

    # MARK: Routers, store, encoders and API

    def restart_router(self):
        """A router takes the same media for some seconds, and dies; its ports answer with ICMP until it is back."""
        router = subprocess.Popen(
            [PROGRAMS / "stagedoor-bench", "receive", "--ports", self.mortal_ports, "--seconds", "60"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.stopping.wait(random.uniform(2, 10))
        router.send_signal(random.choice([signal.SIGKILL, signal.SIGTERM]))
        router.wait()
        self.counts["router restarts"] += 1
        self.stopping.wait(random.uniform(0.5, 5))

    def lose_store(self):
        """Nothing can be stored for a while; what waits is stored afterwards."""
        self.stopping.wait(random.uniform(20, 60))
        if self.stopping.is_set():
            return
        self.store.die()
        self.counts["store deaths"] += 1
        self.stopping.wait(random.uniform(2, 20))
        self.store.live()

    def lose_encoder(self):
        """One of two encoders of a participant is gone for some seconds."""
        self.stopping.wait(random.uniform(1, 5))
        if not self.stopping.is_set():
            random.choice(self.live.pairs).lose_one(self.stopping.wait)
            self.counts["encoders lost"] += 1

    def use_api(self):
        """Stages are made, filled, listed and deleted, as a tidy application does."""
        quick = self.gateway.quickstart
        client = subprocess.Popen(
            [PYTHON, ROOT / "Tests/Interop/Clients/api_churn.py", quick["adminURL"], quick["accessKeyId"], quick["secretAccessKey"],
             quick.get("region", "us-east-1")], stdout=subprocess.PIPE, text=True)
        for line in client.stdout:
            self.counts["API calls"] += int(line)
            if self.stopping.is_set():
                break
        client.kill()
        client.wait()
        self.stopping.wait(1)
