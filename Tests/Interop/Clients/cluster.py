#!/usr/bin/env python3
"""Asks several gateways of one platform the same things.

    cluster.py visible KEY SECRET NODES ROUNDS        makes stages at one node, and publishes on them at the others
    cluster.py race    KEY SECRET NODES ROUNDS        15 publishers at once over all nodes: 12 are admitted, whoever they are
    cluster.py events  KEY SECRET NODES STAGE         the stage's participants and events, at each node
    cluster.py write   KEY SECRET NODES PREFIX        makes stages until SIGTERM; prints what was acknowledged, and other answers
    cluster.py names   KEY SECRET NODES               the names of all stages, at each node
    cluster.py cut     KEY SECRET NODES STAGE PARTICIPANT   disconnects through the last node; when, in ms since 1970

NODES is ADMIN,WHIP,RTMP;… Prints one JSON document; exits non-zero when something was not as it has to be.
"""
import collections
import concurrent.futures
import http.client
import itertools
import json
import pathlib
import random
import re
import signal
import sys
import time
import urllib.parse

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

# A captured request, with what was answered to it behind its body.
CAPTURED = pathlib.Path(__file__).parents[3] / 'Fixtures/offers/obs-32.2.2-ldc0.21.0.txt'
OFFER = CAPTURED.read_bytes().split(b'\r\n\r\n', 1)[1].split(b'\n###')[0]
CREDENTIALS = b'\r\n'.join(sorted(set(re.findall(rb'a=ice-(?:ufrag|pwd):[^\r]+', OFFER)), reverse=True))
TRICKLE = CREDENTIALS + b'\r\na=candidate:1 1 udp 1 192.0.2.1 9 typ host\r\n'

command, key, secret, places, *options = sys.argv[1:]


class Node:
    def __init__(self, place):
        self.admin, self.whip, self.rtmp = place.split(',')
        self.api = boto3.client(
            'ivs-realtime', endpoint_url=self.admin, region_name='us-east-1', aws_access_key_id=key, aws_secret_access_key=secret,
            config=Config(retries={'max_attempts': 1}, connect_timeout=60, read_timeout=60, max_pool_connections=32))

    def request(self, method, path, token, body=None, kind='application/sdp'):
        """Each from an address of its own: what one address may ask for is bounded."""
        url = urllib.parse.urlsplit(self.whip)
        source = f'127.1.{random.randrange(256)}.{random.randrange(1, 255)}'
        connection = http.client.HTTPConnection(url.netloc, timeout=60, source_address=(source, 0))
        headers = {'Authorization': f'Bearer {token}'}
        if body:
            headers['Content-Type'] = kind
        connection.request(method, path or url.path, body, headers)
        response = connection.getresponse()
        text = response.read().decode()
        connection.close()
        return response, text


nodes = [Node(place) for place in places.split(';')]


def mint(node, stage):
    return node.api.create_participant_token(stageArn=stage, capabilities=['PUBLISH'])['participantToken']['token']


def percentile(values, share):
    return round(sorted(values)[min(len(values) - 1, int(len(values) * share))], 1)


def until(condition, limit=120):
    """Milliseconds until it holds."""
    start = time.monotonic()
    while time.monotonic() - start < limit:
        if condition():
            return (time.monotonic() - start) * 1000
        time.sleep(0.001)
    raise SystemExit('not within %d s' % limit)


def sees(node, stage):
    try:
        return node.api.get_stage(arn=stage)['stage']['arn'] == stage
    except ClientError as error:
        if error.response['Error']['Code'] != 'ResourceNotFoundException':
            raise
        return False


def visible(rounds):
    waits, first = [], []
    for number in range(int(rounds)):
        maker, *others = nodes[number % len(nodes):] + nodes[:number % len(nodes)]
        stage = maker.api.create_stage(name=f'visible-{number}')['stage']['arn']
        token = mint(maker, stage)
        # The one that is published at is not asked before.
        began = time.monotonic()
        response, text = others[0].request('POST', None, token, OFFER)
        first.append(response.status)
        if response.status != 201:
            until(lambda: others[0].request('POST', None, token, OFFER)[0].status == 201)
        published = (time.monotonic() - began) * 1000
        waits += [until(lambda node=node: sees(node, stage)) for node in others[1:]] + [published]
        shown = [json.dumps(node.api.get_stage(arn=stage)['stage'], default=str, sort_keys=True) for node in others]
        assert len({text for text in map(without_endpoints, shown)}) == 1, shown
    print(json.dumps({'rounds': len(first), 'published_at_once': first.count(201), 'median_ms': percentile(waits, 0.5),
                      'p95_ms': percentile(waits, 0.95), 'most_ms': percentile(waits, 1)}))


def without_endpoints(text):
    stage = json.loads(text)
    stage.pop('endpoints', None)
    return json.dumps(stage, sort_keys=True)


def race(rounds):
    """Nobody but the stage's own publishers; every session is ended through another node than the one that made it."""
    admitted = collections.Counter()
    refusals = collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(15) as pool:
        for number in range(int(rounds)):
            stage = nodes[0].api.create_stage(name='race')['stage']['arn']
            tokens = [mint(nodes[0], stage) for _ in range(15)]
            until(lambda: all(sees(node, stage) for node in nodes))

            def post(index):
                node = (index + number) % len(nodes)
                response, text = nodes[node].request('POST', None, tokens[index], OFFER)
                return node, response.status, response.headers.get('Location'), tokens[index], text
            answers = list(pool.map(post, range(len(tokens))))
            sessions = [(node, urllib.parse.urlsplit(place).path, token) for node, status, place, token, _ in answers if status == 201]
            admitted[len(sessions)] += 1
            for _, status, _, _, text in answers:
                if status != 201:
                    refusals[f"{status} {json.loads(text).get('code')}"] += 1
            # One that comes when all twelve are live.
            late = next(token for _, status, _, token, _ in answers if status != 201)
            response, _ = nodes[number % len(nodes)].request('POST', None, late, OFFER)
            assert response.status != 201, 'a thirteenth'
            node, path, token = sessions[0]
            patched, _ = nodes[(node + 2) % len(nodes)].request('PATCH', path, token, TRICKLE, 'application/trickle-ice-sdpfrag')
            assert patched.status == 204, patched.status
            ended = list(pool.map(
                lambda made: nodes[(made[0] + 1) % len(nodes)].request('DELETE', made[1], made[2])[0].status, sessions))
            assert set(ended) == {200}, ended
    print(json.dumps({'admitted': admitted, 'refusals': refusals}))
    if set(admitted) != {12}:
        raise SystemExit('not twelve each time')


def events(stage):
    shown = []
    for node in nodes:
        found = {}
        for session in node.api.list_stage_sessions(stageArn=stage)['stageSessions']:
            listed = node.api.list_participants(stageArn=stage, sessionId=session['sessionId'], maxResults=100)
            for participant in listed['participants']:
                told = node.api.list_participant_events(
                    stageArn=stage, sessionId=session['sessionId'], participantId=participant['participantId'], maxResults=100)
                names = [event['name'] for event in told['events']]
                found[participant['participantId']] = {'state': participant['state'], 'events': names}
        shown.append(found)
    print(json.dumps({'participants': shown[0], 'isSame': all(found == shown[0] for found in shown)}))


def write(prefix):
    running = [True]
    signal.signal(signal.SIGTERM, lambda *_: running.clear())
    acknowledged, answers = [], collections.Counter()
    for number in itertools.count():
        if not running:
            break
        name = f'{prefix}-{number}'
        try:
            nodes[number % len(nodes)].api.create_stage(name=name)
            acknowledged.append(name)
        except ClientError as error:
            answers[f"{error.response['ResponseMetadata']['HTTPStatusCode']} {error.response['Error']['Code']}"] += 1
        except BotoCoreError as error:
            answers[type(error).__name__] += 1
        time.sleep(0.05)
    print(json.dumps({'acknowledged': acknowledged, 'answers': answers}))


def names():
    shown = []
    for node in nodes:
        shown.append(sorted(stage['name'] for page in stages(node) for stage in page['stages']))
    print(json.dumps({'names': shown[0], 'isSame': all(found == shown[0] for found in shown)}))


def stages(node):
    token = {}
    while True:
        page = patiently(node.api.list_stages, maxResults=100, **token)
        yield page
        if not page.get('nextToken'):
            return
        token = {'nextToken': page['nextToken']}


def patiently(call, **arguments):
    """What nodes share may just have come back: asks again for a minute while it is unavailable."""
    until = time.monotonic() + 60
    while True:
        try:
            return call(**arguments)
        except ClientError as error:
            if error.response['ResponseMetadata']['HTTPStatusCode'] != 503 or time.monotonic() > until:
                raise
            time.sleep(0.2)


def cut(stage, participant):
    asked = time.time()
    nodes[-1].api.disconnect_participant(stageArn=stage, participantId=participant)
    print(json.dumps({'asked': asked * 1000, 'answered': time.time() * 1000}))


{'cut': cut, 'visible': visible, 'race': race, 'events': events, 'write': write, 'names': names}[command](*options)
