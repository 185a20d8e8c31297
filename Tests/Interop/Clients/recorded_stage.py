#!/usr/bin/env python3
"""recorded_stage.py ENDPOINT KEY SECRET STAGE PARTICIPANT BUCKET [RECORDING] -- ENCODER…: records what an encoder publishes, set up by boto3.

Makes a storage configuration, has the stage recorded there, runs the encoder until that is seen, asks until the recording is
over, and prints {"prefix", "states", "faults"}. While it records, neither the stage's recording nor its storage may be changed.
"""
import atexit
import json
import signal
import subprocess
import sys
import time

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

ENDPOINT, KEY, SECRET, STAGE, PARTICIPANT, BUCKET = sys.argv[1:7]
# Further members of the stage's recording.
MORE = json.loads(sys.argv[7]) if sys.argv[7] != '--' else {}
ENCODER = sys.argv[sys.argv.index('--') + 1:]
IVS = boto3.client(
    'ivs-realtime', endpoint_url=ENDPOINT, region_name='us-east-1', aws_access_key_id=KEY, aws_secret_access_key=SECRET,
    config=Config(retries={'total_max_attempts': 8, 'mode': 'standard'}))
faults, states = [], []


def expect(condition, words):
    if not condition:
        faults.append(words)


def code(call, **arguments):
    try:
        call(**arguments)
        return None
    except ClientError as error:
        return error.response['Error']['Code']


def participant():
    sessions = IVS.list_stage_sessions(stageArn=STAGE)['stageSessions']
    if not sessions:
        return None, None
    where = {'stageArn': STAGE, 'sessionId': sessions[0]['sessionId']}
    found = [each for each in IVS.list_participants(**where)['participants'] if each['participantId'] == PARTICIPANT]
    return (where, IVS.get_participant(participantId=PARTICIPANT, **where)['participant']) if found else (where, None)


def wait(state):
    """Until the recording is in that state, or failed; remembers the states on the way."""
    end = time.monotonic() + 240
    while time.monotonic() < end:
        where, found = participant()
        if found:
            if found['recordingState'] not in states:
                states.append(found['recordingState'])
            if found['recordingState'] in (state, 'FAILED'):
                return where, found
        time.sleep(0.3)
    print(json.dumps({'faults': faults + ['never %s' % state], 'states': states}))
    sys.exit(1)


storage = IVS.create_storage_configuration(s3={'bucketName': BUCKET})['storageConfiguration']['arn']
recording = {'storageConfigurationArn': storage, 'hlsConfiguration': {'targetSegmentDurationSeconds': 2}, **MORE}
IVS.update_stage(arn=STAGE, autoParticipantRecordingConfiguration=recording)
encoder = subprocess.Popen(ENCODER, stdin=subprocess.DEVNULL)
# However this ends.
atexit.register(encoder.kill)
where, found = wait('ACTIVE')
expect(found['recordingS3BucketName'] == BUCKET, 'the bucket is told')
expect(found['recordingS3Prefix'].startswith('%s/%s/%s/' % (STAGE.split('/')[1], where['sessionId'], PARTICIPANT)), 'the prefix')
listed = IVS.list_participants(filterByRecordingState='ACTIVE', **where)['participants']
expect([each['participantId'] for each in listed] == [PARTICIPANT], 'a filter finds it')
expect(IVS.list_participants(filterByRecordingState='STOPPED', **where)['participants'] == [], 'another filter does not')
off = {'storageConfigurationArn': ''}
expect(code(IVS.update_stage, arn=STAGE, autoParticipantRecordingConfiguration=off) == 'ConflictException', 'no change meanwhile')
expect(code(IVS.update_stage, arn=STAGE, autoParticipantRecordingConfiguration=recording) is None, 'the same again is none')
expect(code(IVS.delete_storage_configuration, arn=storage) == 'ConflictException', 'its storage stays')
encoder.send_signal(signal.SIGINT)
encoder.wait()
where, found = wait('STOPPED')
expect(code(IVS.update_stage, arn=STAGE, autoParticipantRecordingConfiguration=off) is None, 'then it may be switched off')
expect(code(IVS.delete_storage_configuration, arn=storage) is None, 'and its storage deleted')
print(json.dumps({'prefix': found['recordingS3Prefix'], 'states': states, 'faults': faults}))
sys.exit(1 if faults else 0)
