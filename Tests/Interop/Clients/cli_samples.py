#!/usr/bin/env python3
"""cli_samples.py ENDPOINT KEY-ID SECRET STAGE-ARN PARTICIPANT-ID: the samples that the AWS CLI ships, against a gateway.

Each command of an operation that is served, with this gateway's ARNs and ids in place of the printed ones, by the unmodified CLI. Its
answer has every member that the sample prints, with the sample's type, and none that is not in the model; only values are the server's
choice. The participant publishes, or has published, on that stage.
"""
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

import awscli
import botocore.session

ENDPOINT, KEY, SECRET, STAGE, PARTICIPANT = sys.argv[1:]
SAMPLES = pathlib.Path(awscli.__file__).parent / 'examples/ivs-realtime'
MODEL = botocore.session.get_session().get_service_model('ivs-realtime')
# Of what is not served yet: composition and its configurations.
UNSERVED = re.compile('composition|encoder-configuration')
# Printed members that are of something unserved, or cannot be there in the state that the command makes.
ABSENT = {
    'create-stage': {'stage.activeSessionId': 'nobody has joined a stage that was just made'},
    'get-stage-session': {'stageSession.endTime': 'the session goes on'},
    'list-stage-sessions': {'stageSessions.endTime': 'the session goes on'},
}
# For what the commands need beside themselves: quicker than another program each time.
IVS = botocore.session.get_session().create_client(
    'ivs-realtime', endpoint_url=ENDPOINT, region_name='us-east-1', aws_access_key_id=KEY, aws_secret_access_key=SECRET)
faults, ran = [], []


def expect(condition, words):
    if not condition:
        faults.append(words)
        print('FAULT', words)


def aws(*words, fails=False):
    environment = dict(os.environ, AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET, AWS_DEFAULT_REGION='us-east-1')
    command = ['aws', 'ivs-realtime', *words, '--endpoint-url', ENDPOINT, '--output', 'json']
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    if fails:
        return run.stderr
    expect(run.returncode == 0, '%s: %s' % (' '.join(words), run.stderr.strip()))
    return json.loads(run.stdout) if run.stdout.strip() else {}


def samples(path):
    """(words of the command, printed answer or None) of every example in a file; the text's own slips are mended."""
    text = path.read_text()
    for part in re.split(r'(?m)^\*\*', text)[1:]:
        block = re.search(r'::\n\n((?:    .*\n|\n)+?)(?=\S)', part)
        if not block:
            continue
        words = block.group(1).replace('\\\n', ' ')
        printed = re.search(r'Output::\n\n((?:    .*\n|\n)+)', part)
        yield words, json.loads(mended(printed.group(1))) if printed else None


def mended(text):
    text = text.replace('participnatId', 'participantId')
    text = re.sub(r'\\\n\s*', '', text)  # a long text is continued on the next line
    text = re.sub(r'([\]}"0-9el])(\s*\n\s*")', r'\1,\2', text)  # a comma forgotten before the next member
    return re.sub(r',(\s*[}\]])', r'\1', text)  # and one too many behind the last


def kind(value):
    return 'number' if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def compare(name, sample, answer, path=()):
    """Every member of the sample is in the answer, of the same type."""
    where = '.'.join(path)
    if kind(sample) != kind(answer):
        return expect(False, '%s: %s is %s, the sample has %s' % (name, where, kind(answer), kind(sample)))
    if isinstance(sample, list):
        expect(answer or not sample, '%s: %s is empty' % (name, where))
        for item in sample if answer else []:
            compare(name, item, max(answer, key=len), path)
    elif isinstance(sample, dict):
        for member, value in sample.items():
            inner = path + (member,)
            if '.'.join(inner) in ABSENT.get(name, {}):
                continue
            if member not in answer:
                expect(False, '%s: %s is missing' % (name, '.'.join(inner)))
            elif inner[-1] != 'tags':
                compare(name, value, answer[member], inner)


def modelled(name, shape, answer, path=''):
    if shape is None or shape.type_name not in ('structure', 'list'):
        return
    if shape.type_name == 'list':
        for item in answer:
            modelled(name, shape.member, item, path)
        return
    for member in answer:
        expect(member in shape.members, '%s: %s.%s is not in the model' % (name, path, member))
        if member in shape.members:
            modelled(name, shape.members[member], answer[member], path + '.' + member)


def public_key(folder):
    command = 'openssl ecparam -name secp384r1 -genkey -noout | openssl ec -pubout > %s/public.pem' % folder
    subprocess.run(command, shell=True, check=True, capture_output=True)
    return pathlib.Path(folder, 'public.pem').read_text()


def carry_out(name, words, printed, folder):
    words = words.replace('`cat public.pem`', 'PUBLIC-KEY').replace('--name arn "arn:', '--arn "arn:')
    words = re.sub(r'\}(\s*"hlsConfiguration")', r',\1', words)  # a brace in the place of a comma
    arguments = shlex.split(words)
    assert arguments[:3] == ['aws', 'ivs-realtime', name], arguments
    arguments = arguments[3:]
    answer = aws(name, *replaced(name, arguments, folder))
    if printed is None:
        return expect(answer == {}, '%s produces no output' % name)
    compare(name, printed, answer)
    operation = next(each for each in MODEL.operation_names if botocore.xform_name(each, '-') == name)
    modelled(name, MODEL.operation_model(operation).output_shape, answer, name)


def storage():
    """Of the five that there may be, one serves all samples."""
    there = IVS.list_storage_configurations()['storageConfigurations']
    made = there[0] if there else IVS.create_storage_configuration(s3={'bucketName': 'recordings'})['storageConfiguration']
    return made['arn']


def replaced(name, arguments, folder):
    """The command with what its ARNs and ids stand for here; made anew for each, as some of them delete it."""
    arns = {'stage': STAGE}
    if name in ('delete-stage', 'update-stage'):
        arns['stage'] = IVS.create_stage()['stage']['arn']
    text = ' '.join(arguments)
    if 'ingest-configuration/' in text:
        made = IVS.create_ingest_configuration(ingestProtocol='RTMPS', name='ingest1', stageArn=STAGE)
        arns['ingest-configuration'] = made['ingestConfiguration']['arn']
    if 'public-key/' in text:
        arns['public-key'] = IVS.list_public_keys()['publicKeys'][0]['arn']
    if 'storage-configuration/' in text:
        arns['storage-configuration'] = storage()
    made = []
    if '--destination-stage-arn' in arguments:
        arguments[arguments.index('--destination-stage-arn') + 1] = DESTINATION
    for word in arguments:
        word = re.sub(r'arn:aws:ivs:[a-z0-9-]+:\d+:([a-z-]+)/\w+', lambda found: found.group(0) if word == DESTINATION else arns[found.group(1)], word)
        word = re.sub(r'^st-\w+$', SESSION, word)
        word = re.sub(r'bucketName=[\w.-]+', 'bucketName=recordings', word)
        made.append(word)
    if '--participant-id' in made:
        made[made.index('--participant-id') + 1] = PARTICIPANT
    return [word.replace('PUBLIC-KEY', public_key(folder)) for word in made]


# What ends the participant, or takes what others need, comes last.
def order(name):
    return (name.startswith('delete-') or name.startswith('disconnect-'), not name.startswith(('create-', 'import-')), name)


# The participant is a source before it is looked at.
REPLICATED, DESTINATION = (IVS.create_stage()['stage']['arn'] for _ in range(2))
IVS.start_participant_replication(sourceStageArn=STAGE, destinationStageArn=REPLICATED, participantId=PARTICIPANT)
SESSION = IVS.list_stage_sessions(stageArn=STAGE)['stageSessions'][0]['sessionId']
files = {path.stem: path for path in SAMPLES.glob('*.rst') if not UNSERVED.search(path.stem)}
with tempfile.TemporaryDirectory() as scratch:
    for stem in sorted(files, key=order):
        for words, printed in samples(files[stem]):
            carry_out(stem, words, printed, scratch)
            ran.append(stem)
print('%d samples of %d operations, %d faults' % (len(ran), len(set(ran)), len(faults)))
sys.exit(1 if faults or len(set(ran)) < 26 else 0)
