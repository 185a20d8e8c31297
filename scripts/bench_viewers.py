"""The job of scripts/bench with viewers: what one of the embedded router's takes of memory and of CPU."""
import subprocess
import time

from bench_load import passed
from gateway_run import PATIENCE_SECONDS, Gateway, finished, running_bench, wait_for
from process_figures import cpu_by_thread, resident

VIEWERS = 40
MEMORY_KILOBYTES = 60
ROUTER = "  viewers: {driver: embedded}"
ROOM = "embedded: {maximumSubscribers: 1000, subscribersPerStage: 1000}"


def viewer(table, seconds, rounds, peers):
    """Of one participant by RTMP with Opus; the first viewers make what is made once for all, and are not counted."""
    gateway = Gateway(ROOM, more_routers=ROUTER)
    programs = []
    try:
        limit = seconds + 4 * PATIENCE_SECONDS
        programs.append(running_bench(
            "rtmp", gateway.quickstart["rtmpURL"], "--key", gateway.quickstart["streamKey"], "--flv", str(passed()), "--seconds", str(limit)))
        wait_for(gateway, "stagedoor_sessions", 1)
        programs.append(watching(gateway, 4, limit))
        before, alone = settled(gateway, 4, seconds)
        programs.append(watching(gateway, VIEWERS, limit))
        after, watched = settled(gateway, 4 + VIEWERS, seconds)
        reports = [finished(program) for program in reversed(programs[1:])]
    finally:
        for program in programs:
            program.kill()
            program.communicate()
        gateway.close()
    lost, packets = (sum(report[name] for report in reports) for name in ("lost", "packets"))
    table.row("memory of a WHEP viewer", (after - before) / VIEWERS, "kB", MEMORY_KILOBYTES, note=f"{VIEWERS} of them; lost {lost} of {packets}")
    table.row("a WHEP viewer more, 2.5 Mbit/s", (watched - alone) / VIEWERS, "ms CPU a second")


def watching(gateway, count: int, seconds: float, participant: str | None = None) -> subprocess.Popen:
    """Viewers of a participant of quickstart's stage, each with a token of its own."""
    quick = gateway.quickstart
    url = quick["whipURL"].removesuffix("/whip") + f"/whep/{quick['stageId']}/{participant or quick['participantId']}"
    return running_bench(
        "whep", url, "--viewers", str(count), "--concurrency", str(count), "--seconds", str(seconds), "--admin", quick["adminURL"],
        "--access-key", quick["accessKeyId"], "--secret", quick["secretAccessKey"], "--stage", quick["stageArn"])


def settled(gateway, count: int, seconds: float) -> tuple[int, float]:
    """Memory, and CPU a second, once so many watch and what they keep for retransmission is full."""
    wait_for(gateway, "stagedoor_whep_subscribers", count)
    time.sleep(3)
    pid = gateway.process.pid
    before, began = cpu_by_thread(pid).total(), time.monotonic()
    time.sleep(seconds)
    return resident(pid), (cpu_by_thread(pid).total() - before) / (time.monotonic() - began)
