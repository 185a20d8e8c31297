"""Reads the subset of Dockerfile syntax that our own files use; anything else is an error, so nothing is passed over."""
import json
import pathlib
import re
import shlex
from dataclasses import dataclass, field, replace


@dataclass
class Step:
    """A COPY or RUN, with the settings that were in force where it stands."""
    word: str
    text: str
    directory: str
    environment: dict[str, str]
    command: str = ""
    caches: list[str] = field(default_factory=list)
    source_stage: str = ""
    paths: list[str] = field(default_factory=list)
    target: str = ""


@dataclass
class Stage:
    base: str
    name: str
    steps: list[Step] = field(default_factory=list)
    directory: str = "/"
    environment: dict[str, str] = field(default_factory=dict)
    user: str = "root"
    volumes: list[str] = field(default_factory=list)
    stop_signal: str = "SIGTERM"
    health: list[str] = field(default_factory=list)
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)

    def at(self, step: Step) -> "Stage":
        return replace(self, directory=step.directory, environment=step.environment)


def instructions(text: str):
    """(word, rest) of each instruction, its continued lines joined."""
    lines = [line for line in text.splitlines() if line.strip() and not line.lstrip().startswith("#")]
    for line in re.sub(r"\\\n\s*", " ", "\n".join(lines)).splitlines():
        word, _, rest = line.strip().partition(" ")
        yield word.upper(), rest.strip()


def expanded(value: str, environment: dict[str, str]) -> str:
    known = {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"} | environment
    return re.sub(r"\$\{?(\w+)\}?", lambda name: known.get(name[1], ""), value)


def read(file: pathlib.Path) -> list[Stage]:
    """The stages in their order; the last one is the image."""
    stages: list[Stage] = []
    for word, rest in instructions(file.read_text()):
        if word == "FROM":
            words = rest.split()
            stages.append(Stage(base=words[0], name=words[2] if len(words) == 3 else ""))
        elif not apply(word, rest, stages[-1]):
            raise SystemExit(f"{file}: {word} is not known to this reader")
    return stages


def apply(word: str, rest: str, stage: Stage) -> bool:
    """Notes one instruction; false when it is unknown."""
    match word:
        case "RUN" | "COPY": stage.steps.append(step(word, rest, stage))
        case "WORKDIR": stage.directory = rest
        case "USER": stage.user = rest
        case "VOLUME": stage.volumes.append(rest)
        case "STOPSIGNAL": stage.stop_signal = rest
        case "ENTRYPOINT": stage.entrypoint = json.loads(rest)
        case "CMD": stage.command = json.loads(rest)
        case "HEALTHCHECK": stage.health = json.loads(rest.partition("CMD ")[2])
        case "ENV":
            for pair in shlex.split(rest):
                name, _, value = pair.partition("=")
                stage.environment[name] = expanded(value, stage.environment)
        case "EXPOSE" | "LABEL": pass    # they tell people, and change nothing
        case _: return False
    return True


def step(word: str, rest: str, stage: Stage) -> Step:
    made = Step(word, f"{word} {rest}", stage.directory, dict(stage.environment))
    words = rest.split()
    while words and words[0].startswith("--"):
        option = words.pop(0)
        if option.startswith("--from="):
            made.source_stage = option.partition("=")[2]
        elif option.startswith("--mount=type=cache,target="):
            made.caches.append(option.rpartition("=")[2])
        else:
            raise SystemExit(f"{option} is not known to this reader")
    if word == "RUN":
        made.command = " ".join(words)
    else:
        *made.paths, made.target = words
    return made
