#!/usr/bin/env python3
"""Judges a control API by botocore's own model of ivs-realtime.

    control_api.py walk  ENDPOINT ACCESS_KEY_ID SECRET [--cli]   the guide, through boto3 (and the AWS CLI)
    control_api.py sweep ENDPOINT ACCESS_KEY_ID SECRET           each constrained member at and beyond its limits
    control_api.py write ENDPOINT ACCESS_KEY_ID SECRET PREFIX    makes stages until the server is gone; prints the acknowledged
    control_api.py names ENDPOINT ACCESS_KEY_ID SECRET           prints the names of all stages that are whole

Every answer is held against the model: no unknown member, each required one there, values within their constraints.
Prints one line for every fault; the exit status is 0 when there was none.
"""
import concurrent.futures
import copy
import http.client
import json
import re
import subprocess
import sys
import threading
import time
import os
import urllib.parse
import urllib.request

import boto3
import botocore.session
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.config import Config
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

REGION = "us-east-1"
MODEL = botocore.session.get_session().get_service_model("ivs-realtime")
SERVED = """CreateStage GetStage UpdateStage ListStages DeleteStage CreateParticipantToken DisconnectParticipant
ImportPublicKey GetPublicKey ListPublicKeys DeletePublicKey CreateIngestConfiguration GetIngestConfiguration
UpdateIngestConfiguration ListIngestConfigurations DeleteIngestConfiguration CreateStorageConfiguration
GetStorageConfiguration ListStorageConfigurations DeleteStorageConfiguration ListStageSessions GetStageSession
ListParticipants GetParticipant ListParticipantEvents StartParticipantReplication StopParticipantReplication
ListParticipantReplicas TagResource UntagResource ListTagsForResource""".split()
KEYS = """-----BEGIN PUBLIC KEY-----
%s
-----END PUBLIC KEY-----
"""
# A prefix has slashes, as IVS answers it and the model forgets.
RELAXED = {"ParticipantRecordingS3Prefix": "[a-zA-Z0-9/_-]*"}
faults = []
checked = 0


def expect(condition, words):
    global checked
    checked += 1
    if not condition:
        faults.append(words)
        print("FAULT", words)


def within(limits, number, path):
    expect(limits.get("min", 0) <= number <= limits.get("max", 1 << 40), f"{path} is {number}")


def conforms(shape, value, path):
    """Whether an answer's value is what the model says, all the way down."""
    kind = shape.type_name
    if kind == "structure":
        expect(isinstance(value, dict), f"{path} is no object")
        for name in value:
            expect(name in shape.members, f"{path}.{name} is not in the model")
        for name in shape.required_members:
            expect(name in value, f"{path}.{name} is missing")
        for name, member in shape.members.items():
            if name in value:
                conforms(member, value[name], f"{path}.{name}")
    elif kind == "list":
        within(shape.metadata, len(value), f"number of {path}")
        for index, item in enumerate(value):
            conforms(shape.member, item, f"{path}[{index}]")
    elif kind == "map":
        within(shape.metadata, len(value), f"number of {path}")
        for name, item in value.items():
            conforms(shape.key, name, f"{path} name")
            conforms(shape.value, item, f"{path}.{name}")
    elif kind == "string":
        limits = shape.metadata
        expect(isinstance(value, str), f"{path} is no string")
        within(limits, len(value), f"length of {path}")
        pattern = RELAXED.get(shape.name, limits.get("pattern"))
        expect(not pattern or re.search(f"^(?:{pattern})$", value, re.S), f"{path} breaks its pattern")
        expect(not limits.get("enum") or value in limits["enum"], f"{path} is not in its enumeration")
    elif kind in ("integer", "long"):
        expect(isinstance(value, int) and not isinstance(value, bool), f"{path} is no integer")
        within(shape.metadata, value, path)
    elif kind == "boolean":
        expect(isinstance(value, bool), f"{path} is no boolean")
    elif kind == "timestamp":
        expect(isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", value), f"{path} is no time")


def judge(http_response, parsed, model, **_):
    if http_response.status_code == 200:
        output = model.output_shape
        body = json.loads(http_response.content)
        if output:
            conforms(output, body, model.name)
    name = http_response.headers.get("x-amzn-ErrorType")
    for error in (shape for shape in model.error_shapes if shape.name == name):
        expect(http_response.status_code == error.metadata["error"]["httpStatusCode"], f"{model.name} {name}: {http_response.status_code}")


def client(endpoint, key, secret):
    made = boto3.client(
        "ivs-realtime", endpoint_url=endpoint, region_name=REGION, aws_access_key_id=key, aws_secret_access_key=secret,
        config=Config(retries={"total_max_attempts": 8, "mode": "standard"}))
    made.meta.events.register("after-call.ivs-realtime", judge)
    return made


def public_key():
    command = "openssl ecparam -name secp384r1 -genkey -noout | openssl ec -pubout"
    return subprocess.run(command, shell=True, check=True, capture_output=True, text=True).stdout


def fails(code, call, **arguments):
    try:
        call(**arguments)
        expect(False, f"{call.__name__} should answer {code}")
    except ClientError as error:
        expect(error.response["Error"]["Code"] == code, f"{call.__name__}: {error.response['Error']['Code']} for {code}")
        expect(error.response["Error"]["Message"], f"{call.__name__}: {code} without a sentence that boto3 shows")
        expect(error.response["ResponseMetadata"].get("RequestId"), f"{call.__name__}: {code} without a request id")


def walk(endpoint, key, secret):
    """Stage with tokens, key import, ingest configurations, sessions, participants, events, tags: the guide's way."""
    ivs = client(endpoint, key, secret)
    made = ivs.create_stage(
        name="walk", tags={"team": "ü"},
        participantTokenConfigurations=[{"userId": "a", "attributes": {"k": "é"}}, {"capabilities": ["SUBSCRIBE"], "duration": 5}])
    stage = made["stage"]["arn"]
    expect(len(made["participantTokens"]) == 2, "two tokens were asked for")
    expect(ivs.get_stage(arn=stage)["stage"]["name"] == "walk", "the name is kept")
    expect(ivs.update_stage(arn=stage, name="walked")["stage"]["name"] == "walked", "the name is changed")
    expect(any(s["arn"] == stage for s in ivs.list_stages(maxResults=100)["stages"]), "the stage is listed")
    token = ivs.create_participant_token(stageArn=stage, userId="u", attributes={"a": "b"}, capabilities=["PUBLISH"], duration=60)
    expect(token["participantToken"]["token"].count(".") == 2, "a token has three parts")
    pem = public_key()
    imported = ivs.import_public_key(publicKeyMaterial=pem, name="k")["publicKey"]
    fails("ConflictException", ivs.import_public_key, publicKeyMaterial=pem)
    expect(ivs.get_public_key(arn=imported["arn"])["publicKey"]["publicKeyMaterial"] == pem, "the key's text is kept")
    expect(any(k["arn"] == imported["arn"] for k in ivs.list_public_keys()["publicKeys"]), "the key is listed")
    ingest = ivs.create_ingest_configuration(
        ingestProtocol="RTMPS", stageArn=stage, name="c", attributes={"x": "y"}, redundantIngest=True)["ingestConfiguration"]
    expect(len(ingest["redundantIngestCredentials"]) == 2, "two encoders have credentials")
    again = ivs.get_ingest_configuration(arn=ingest["arn"])["ingestConfiguration"]
    expect(again["streamKey"] == ingest["streamKey"], "the stream key is kept")
    detached = ivs.update_ingest_configuration(arn=ingest["arn"], stageArn="")["ingestConfiguration"]
    expect(detached["stageArn"] == "", "the configuration is detached")
    ivs.update_ingest_configuration(arn=ingest["arn"], stageArn=stage)
    listed = ivs.list_ingest_configurations(filterByStageArn=stage)["ingestConfigurations"]
    expect([c["arn"] for c in listed] == [ingest["arn"]], "one configuration points to the stage")
    storage = walk_storage(ivs, stage)
    for arn in (stage, imported["arn"], ingest["arn"], storage):
        ivs.tag_resource(resourceArn=arn, tags={"one": "1", "two": ""})
        ivs.untag_resource(resourceArn=arn, tagKeys=["one"])
        expect("two" in ivs.list_tags_for_resource(resourceArn=arn)["tags"], "a tag stays")
    ivs.disconnect_participant(stageArn=stage, participantId=ingest["participantId"], reason="enough")
    expect(ivs.get_ingest_configuration(arn=ingest["arn"])["ingestConfiguration"]["stageArn"] == "", "it is detached")
    walk_history(ivs)
    ivs.delete_ingest_configuration(arn=ingest["arn"], force=True)
    ivs.delete_public_key(arn=imported["arn"])
    ivs.delete_storage_configuration(arn=storage)
    fails("ResourceNotFoundException", ivs.get_storage_configuration, arn=storage)
    fails("ResourceNotFoundException", ivs.update_stage, arn=stage, autoParticipantRecordingConfiguration={
        "storageConfigurationArn": storage, "recordingReconnectWindowSeconds": 7})
    ivs.delete_stage(arn=stage)
    fails("ResourceNotFoundException", ivs.get_stage, arn=stage)
    fails("AccessDeniedException", ivs.start_composition, stageArn=stage, destinations=[{"channel": {"channelArn": stage.replace("stage/", "channel/")}}])
    expect(ivs.list_compositions()["compositions"] == [], "there are no compositions")
    fails("InvalidSignatureException", client(endpoint, key, secret + "x").list_stages)
    fails("UnrecognizedClientException", client(endpoint, "AKIAUNKNOWN", secret).list_stages)


def walk_storage(ivs, stage):
    """A bucket of the configuration file, and a stage whose participants are recorded into it."""
    fails("ValidationException", ivs.create_storage_configuration, s3={"bucketName": "nobody-named-it"})
    made = ivs.create_storage_configuration(name="disk", s3={"bucketName": "recordings"}, tags={"t": "v"})["storageConfiguration"]
    expect(re.fullmatch(r"arn:aws:ivs:us-east-1:\d{12}:storage-configuration/[a-zA-Z0-9]{12}", made["arn"]), made["arn"])
    expect(ivs.get_storage_configuration(arn=made["arn"])["storageConfiguration"] == made, "the configuration is kept")
    expect(made in ivs.list_storage_configurations()["storageConfigurations"], "the configuration is listed")
    fails("ValidationException", ivs.create_stage, autoParticipantRecordingConfiguration={
        "storageConfigurationArn": made["arn"][:-1] + "-"})
    wanted = {
        "storageConfigurationArn": made["arn"], "mediaTypes": ["AUDIO_ONLY"], "recordingReconnectWindowSeconds": 60,
        "thumbnailConfiguration": {"recordingMode": "INTERVAL", "targetIntervalSeconds": 5, "storage": ["SEQUENTIAL", "LATEST"]},
        "hlsConfiguration": {"targetSegmentDurationSeconds": 2}, "recordParticipantReplicas": False}
    kept = ivs.update_stage(arn=stage, autoParticipantRecordingConfiguration=wanted)["stage"]
    expect(kept["autoParticipantRecordingConfiguration"] == wanted, "what was sent is kept")
    expect(ivs.update_stage(arn=stage, name="recorded")["stage"]["autoParticipantRecordingConfiguration"] == wanted, "it stays")
    off = dict(wanted, storageConfigurationArn="")
    reset = ivs.update_stage(arn=stage, autoParticipantRecordingConfiguration=off)["stage"]["autoParticipantRecordingConfiguration"]
    expect(reset["mediaTypes"] == ["AUDIO_VIDEO"] and reset["recordingReconnectWindowSeconds"] == 0, "off resets the rest")
    return made["arn"]


def walk_history(ivs):
    """Whatever sessions there are, every list and every item of them conforms."""
    for stage in ivs.list_stages()["stages"]:
        for session in ivs.list_stage_sessions(stageArn=stage["arn"])["stageSessions"]:
            where = {"stageArn": stage["arn"], "sessionId": session["sessionId"]}
            expect(ivs.get_stage_session(**where)["stageSession"]["sessionId"] == session["sessionId"], "the session is found")
            for participant in ivs.list_participants(**where)["participants"]:
                one = dict(where, participantId=participant["participantId"])
                expect(ivs.get_participant(**one)["participant"]["participantId"] == participant["participantId"], "it is found")
                times = [event["eventTime"] for event in ivs.list_participant_events(**one)["events"]]
                expect(times == sorted(times), "events come oldest first")


def cli(endpoint, key, secret):
    """The unmodified AWS CLI makes, reads and removes a stage."""
    environment = dict(os.environ, AWS_ACCESS_KEY_ID=key, AWS_SECRET_ACCESS_KEY=secret, AWS_DEFAULT_REGION=REGION)

    def aws(*arguments):
        command = ["aws", "ivs-realtime", *arguments, "--endpoint-url", endpoint, "--output", "json"]
        run = subprocess.run(command, env=environment, capture_output=True, text=True)
        expect(run.returncode == 0, f"aws {arguments[0]}: {run.stderr.strip()}")
        return json.loads(run.stdout) if run.stdout.strip() else {}

    stage = aws("create-stage", "--name", "cli")["stage"]["arn"]
    token = aws("create-participant-token", "--stage-arn", stage, "--user-id", "123", "--capabilities", "PUBLISH")
    expect("token" in token["participantToken"], "the CLI has its token")
    aws("create-ingest-configuration", "--name", "cli", "--ingest-protocol", "RTMPS", "--stage-arn", stage)
    aws("tag-resource", "--resource-arn", stage, "--tags", "k=v")
    expect(aws("list-tags-for-resource", "--resource-arn", stage)["tags"] == {"k": "v"}, "the CLI sees its tag")
    for configuration in aws("list-ingest-configurations", "--filter-by-stage-arn", stage)["ingestConfigurations"]:
        aws("delete-ingest-configuration", "--arn", configuration["arn"])
    made = aws("create-storage-configuration", "--name", "cli", "--s3", "bucketName=recordings")["storageConfiguration"]["arn"]
    expect(any(s["arn"] == made for s in aws("list-storage-configurations")["storageConfigurations"]), "the CLI lists its storage")
    aws("update-stage", "--arn", stage, "--auto-participant-recording-configuration", json.dumps({"storageConfigurationArn": made}))
    recording = aws("get-stage", "--arn", stage)["stage"]["autoParticipantRecordingConfiguration"]
    expect(recording["storageConfigurationArn"] == made, "the CLI has its stage recorded")
    aws("delete-stage", "--arn", stage)
    aws("delete-storage-configuration", "--arn", made)


class Raw:
    """Signed requests without a client that would refuse the wrong ones itself."""

    def __init__(self, endpoint, key, secret):
        self.endpoint, self.auth = endpoint, SigV4Auth(Credentials(key, secret), "ivs", REGION)
        self.connection = http.client.HTTPConnection(urllib.parse.urlsplit(endpoint).netloc)

    def send(self, method, target, body=None):
        data = b"" if body is None else json.dumps(body).encode()
        request = AWSRequest(method=method, url=self.endpoint + target, data=data, headers={"Content-Type": "application/json"})
        self.auth.add_auth(request)
        self.connection.request(method, target, body=data, headers=dict(request.headers.items()))
        answer = self.connection.getresponse()
        content = answer.read()
        return answer.status, answer.getheader("x-amzn-ErrorType"), json.loads(content)


def fitting(shape, length):
    """A string of this length that matches the shape's pattern as far as one can."""
    pattern = shape.metadata.get("pattern", "")
    found = re.search(r"arn:aws:ivs:.*:([a-z-]+)/", pattern)
    if found:
        return (f"arn:aws:ivs:{REGION}:000000000000:{found.group(1)}/" + "a" * 200)[:length]
    return ("st-" + "a" * 200)[:length] if pattern.startswith("st-") else "a" * length


def mutations(shape, value, path=()):
    """(where, value, whether it lies beyond) for every constraint below a structure."""
    limits, kind = shape.metadata, shape.type_name
    if kind == "structure":
        for name, member in shape.members.items():
            base = value.get(name) if isinstance(value, dict) else None
            yield from mutations(member, base, path + (name,))
    elif kind == "string":
        yield path, 7, True
        if "max" in limits:
            yield path, fitting(shape, limits["max"]), False
            yield path, fitting(shape, limits["max"] + 1), True
        if limits.get("min", 0) > 0:
            yield path, fitting(shape, limits["min"]), None
            yield path, fitting(shape, limits["min"] - 1), True
        if limits.get("pattern"):
            yield path, "ä!", True
        for choice in limits.get("enum", []):
            yield path, choice, False
        if limits.get("enum"):
            yield path, "NEITHER", True
    elif kind == "integer":
        yield path, "1", True
        yield path, limits["min"], False
        yield path, limits["min"] - 1, True
        if "max" in limits:
            yield path, limits["max"], False
            yield path, limits["max"] + 1, True
    elif kind == "boolean":
        yield path, True, None
        yield path, "true", True
    elif kind == "list":
        yield path, {}, True
        item = {} if shape.member.type_name == "structure" else (shape.member.metadata.get("enum") or ["a"])[0]
        if "max" in limits:
            yield path, [item] * limits["max"], None
            yield path, [item] * (limits["max"] + 1), True
        for where, wrong, beyond in mutations(shape.member, item, ()):
            yield path, [nest(item, where, wrong)], beyond
    elif kind == "map":
        yield path, {"k": 1}, True
        if "max" in limits:
            yield path, {f"k{i}": "v" for i in range(limits["max"])}, False
            yield path, {f"k{i}": "v" for i in range(limits["max"] + 1)}, True
            yield path, {"k" * 128: "v" * 256}, False
            yield path, {"k" * 129: "v"}, True
            yield path, {"k": "v" * 257}, True
            yield path, {"": "v"}, True
        else:
            yield path, {"k": "v" * 1023}, False
            yield path, {"k": "v" * 1024}, True


def nest(base, path, value):
    if not path:
        return value
    made = copy.deepcopy(base) if isinstance(base, dict) else {}
    made[path[0]] = nest(made.get(path[0]), path[1:], value)
    if path[0] == "autoParticipantRecordingConfiguration" and isinstance(made[path[0]], dict):
        made[path[0]].setdefault("storageConfigurationArn", "")
    return made


def sweep(endpoint, key, secret):
    raw = Raw(endpoint, key, secret)
    stage = raw.send("POST", "/CreateStage", {})[2]["stage"]["arn"]
    ingest = raw.send("POST", "/CreateIngestConfiguration", {"ingestProtocol": "RTMPS"})[2]["ingestConfiguration"]["arn"]
    unknown = stage[:-3] + "xyz"
    known = {"StageArn": stage, "IngestConfigurationArn": ingest, "PublicKeyArn": unknown.replace("stage/", "public-key/"),
             "StageSessionId": "st-" + "a" * 13, "ParticipantId": "a", "ParticipantTokenId": "a", "IngestProtocol": "RTMPS",
             "PublicKeyMaterial": KEYS % "AAAA", "S3StorageConfiguration": {"bucketName": "recordings"},
             "StorageConfigurationArn": unknown.replace("stage/", "storage-configuration/")}
    for name in SERVED:
        operation = MODEL.operation_model(name)
        shape = operation.input_shape
        if "/tags/" in operation.http["requestUri"]:
            sweep_tags(raw, operation, stage)
            continue
        base = {member: known[shape.members[member].name] for member in shape.required_members}
        if name.startswith("Delete"):
            base["arn"] = base["arn"][:-3] + "xyz"
        for missing in shape.required_members:
            settle(raw, operation, {k: v for k, v in base.items() if k != missing}, True, f"without {missing}")
        for path, value, beyond in mutations(shape, base):
            settle(raw, operation, nest(base, path, value), beyond, f"{'.'.join(path)} = {json.dumps(value)[:60]}")
    for name in sorted(set(MODEL.operation_names) - set(SERVED)):
        status, error, body = raw.send("POST", f"/{name}", {})
        served = status == 200 and list(body.values()) == [[]] if name.startswith("List") else error == "AccessDeniedException"
        expect(served, f"{name}: {status} {error} {body}")


def settle(raw, operation, body, beyond, words):
    status, error, answer = raw.send("POST", f"/{operation.name}", body)
    check(operation, status, error, answer, beyond, words)


def check(operation, status, error, answer, beyond, words):
    words = f"{operation.name} {words}: {status} {error}"
    if beyond:
        expect((status, error) == (400, "ValidationException"), words)
    else:
        expect((status, error) in ((200, None), (404, "ResourceNotFoundException"), (400, "ValidationException")), words)
    modelled = {shape.name for shape in operation.error_shapes}
    expect(error is None or error in modelled, words + " is not modelled")
    if status == 200 and operation.output_shape:
        conforms(operation.output_shape, answer, operation.name)
    elif status != 200:
        # What SDKs show is `message`, which no model has.
        expect(list(answer) == ["exceptionMessage", "message"] and len(set(answer.values())) == 1, words + f" has the body {answer}")


def sweep_tags(raw, operation, stage):
    method = operation.http["method"]
    tags = operation.input_shape.members.get("tags")
    query = "?tagKeys=k" if method == "DELETE" else ""
    body = {"tags": {"k": "v"}} if tags else None
    for arn, beyond in ((stage, False), (stage[:-3] + "xyz", False), ("nonsense", True), (fitting_arn(129), True), (fitting_arn(128), False)):
        answer = raw.send(method, "/tags/" + urllib.parse.quote(arn, safe="") + query, body)
        check(operation, *answer, beyond, arn[:40])
    if tags:
        for _, value, beyond in mutations(tags, None):
            answer = raw.send(method, "/tags/" + urllib.parse.quote(stage, safe=""), {"tags": value})
            check(operation, *answer, beyond, f"tags = {json.dumps(value)[:60]}")
            for first in range(0, 60, 30):
                raw.send("DELETE", "/tags/" + urllib.parse.quote(stage, safe="") + "?" + "&".join(
                    f"tagKeys={k}" for k in [f"k{i}" for i in range(first, first + 30)] + ["k" * 128]))
    if query:
        for keys, beyond in (([], True), (["k" * 128], False), (["k" * 129], True), (["a"] * 50, False), (["a"] * 51, True)):
            target = "/tags/" + urllib.parse.quote(stage, safe="") + "?" + "&".join("tagKeys=" + key for key in keys)
            check(operation, *raw.send(method, target), beyond, f"{len(keys)} tagKeys")


def write(endpoint, key, secret):
    """Four writers at once, so that their commits are shared; each prints what was acknowledged."""
    def work(writer):
        raw = Raw(endpoint, key, secret)
        for number in range(100_000):
            name = f"{sys.argv[5]}-{writer}-{number}"
            try:
                status = raw.send("POST", "/CreateStage", {"name": name, "tags": {"name": name}})[0]
            except (OSError, http.client.HTTPException, ValueError):
                return
            if status == 200:
                os.write(1, f"{name}\n".encode())  # whole lines, whichever thread writes
    threads = [threading.Thread(target=work, args=(writer,)) for writer in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def names(endpoint, key, secret):
    raw, token = Raw(endpoint, key, secret), None
    while True:
        page = raw.send("POST", "/ListStages", {"maxResults": 100, **({"nextToken": token} if token else {})})[2]
        for stage in page["stages"]:
            if stage.get("tags", {}).get("name") == stage.get("name"):
                print(stage["name"])
            else:
                print("PART", stage)
        token = page.get("nextToken")
        if not token:
            return


def tokens(endpoint, key, secret):
    """The longest worker turn of ten seconds alone, then of ten beside 50 CreateParticipantToken requests a second."""
    raw = Raw(endpoint, key, secret)
    stage = raw.send("POST", "/ListStages", {})[2]["stages"][0]["arn"]
    seconds, rate, made = 10, 50, 0
    alone = longest_turns(endpoint, seconds)
    with concurrent.futures.ThreadPoolExecutor(1) as others:
        watched = others.submit(longest_turns, endpoint, seconds)
        start = time.monotonic()
        for number in range(seconds * rate):
            time.sleep(max(0, start + number / rate - time.monotonic()))
            made += raw.send("POST", "/CreateParticipantToken", {"stageArn": stage})[0] == 200
        took = time.monotonic() - start
        print(json.dumps({"alone": alone, "beside": watched.result(), "made": made, "seconds": took}))


def longest_turns(endpoint, seconds):
    """The greatest CPU time of a worker's turn, in milliseconds; each second in which it turned is told once, so ask twice in it. An idle worker's value stays."""
    greatest, end = 0, time.monotonic() + seconds
    while time.monotonic() < end:
        time.sleep(0.4)
        page = urllib.request.urlopen(endpoint + "/metrics", timeout=60).read().decode()
        turns = re.findall(r'longest_turn_cpu_seconds{loop="worker-[0-9]+"} (\S+)', page)
        greatest = max([greatest, *map(float, turns)])
    return greatest * 1_000


def fitting_arn(length):
    return (f"arn:aws:ivs:{REGION}:000000000000:stage/" + "a" * 200)[:length]


def main():
    command, endpoint, key, secret = sys.argv[1:5]
    {"walk": walk, "sweep": sweep, "write": write, "names": names, "tokens": tokens}[command](endpoint, key, secret)
    if command in ("write", "names", "tokens"):
        return
    if "--cli" in sys.argv:
        cli(endpoint, key, secret)
    print(f"{command}: {checked} checks, {len(faults)} faults")
    sys.exit(1 if faults else 0)


main()
