"""What /proc says of a process: memory, descriptors, and CPU by the names of its threads."""
import collections
import os
import pathlib
import re


def resident(pid: int) -> int:
    """kB."""
    with open(f"/proc/{pid}/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("VmRSS"))


def descriptors(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def cpu_by_thread(pid: int) -> collections.Counter:
    """Milliseconds on a CPU so far, of threads that live now; `worker-0` and `worker-1` together are `worker`."""
    sums: collections.Counter = collections.Counter()
    for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
        try:
            name, schedstat = (task / "comm").read_text().strip(), (task / "schedstat").read_text()
        except FileNotFoundError:
            continue
        sums[re.sub(r"-\d+$", "", name)] += int(schedstat.split()[0]) / 1e6
    return sums
