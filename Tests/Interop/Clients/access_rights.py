#!/usr/bin/env python3
"""access_rights.py ADMIN-URL KEY-ID SECRET OWNER-ID OWNER-SECRET STAGE-ARN: what a key may do that is allowed one action on one stage.

KEY-ID may do ivs:CreateParticipantToken on that stage; OWNER-ID may do everything. By the AWS CLI, by every operation of the model, by
every address under /v1/, by CloudWatch's API, and in the console; and that OWNER-ID reads no events after signing out there. Prints a line
for each thing seen; the exit status is 0 when all of them were.
"""
import datetime
import http.client
import json
import os
import subprocess
import sys
import urllib.parse

import botocore.exceptions
import botocore.session
import webdriver
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from console import expect

ADMIN, KEY, SECRET, OWNER, OWNER_SECRET, STAGE = sys.argv[1:]
ALLOWED = 'CreateParticipantToken'
MODEL = botocore.session.get_session().get_service_model('ivs-realtime')
NODE = [
    ('GET', '/v1/overview', 'GetOverview'), ('GET', '/v1/sessions', 'ListSessions'), ('GET', '/v1/sessions/x', 'GetSession'),
    ('GET', '/v1/events', 'GetEvents'), ('GET', '/v1/drain', 'GetDrain'), ('POST', '/v1/drain', 'StartDrain'),
    ('DELETE', '/v1/drain', 'StopDrain'), ('POST', '/v1/undrain', 'StopDrain'),
    ('GET', '/v1/stages/%s/metrics' % STAGE.split('/')[1], 'GetStageMetrics'),
    ('GET', '/v1/stages/%s/participants/x/sdp' % STAGE.split('/')[1], 'GetDescription'),
    ('GET', '/v1/stages/%s/sessions/x/participants/x/recording/media/hls/x.m3u8' % STAGE.split('/')[1], 'GetRecording'),
    ('GET', '/v1/stages/%s/participants/x/thumbnail' % STAGE.split('/')[1], 'GetThumbnail'),
    ('GET', '/v1/participants/x/sdp', 'GetDescription'), ('GET', '/v1/ingestConfigurations/x/obs', 'ExportEncoderSettings'),
    ('GET', '/v1/participants/x/source', 'GetSource'), ('POST', '/v1/participants/x/source', 'SwitchSource'),
]


def send(method, path, body=None, key=KEY, secret=SECRET):
    data = b'' if body is None else json.dumps(body).encode()
    request = AWSRequest(method=method, url=ADMIN + path, data=data, headers={})
    SigV4Auth(Credentials(key, secret), 'ivs', 'us-east-1').add_auth(request)
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(ADMIN).netloc, timeout=60)
    connection.request(method, path, body=data, headers=dict(request.headers.items()))
    answer = connection.getresponse()
    return answer.status, answer.getheader('x-amzn-ErrorType'), answer.read().decode()


def answered(method, path, headers):
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(ADMIN).netloc, timeout=60)
    connection.request(method, path, headers=headers)
    return connection.getresponse()


def denied(answer, action):
    status, kind, text = answer
    return status == 403 and kind == 'AccessDeniedException' and 'is not authorized to perform: %s,' % action in text


def aws(*words):
    environment = dict(os.environ, AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET, AWS_DEFAULT_REGION='us-east-1')
    command = ['aws', 'ivs-realtime', *words, '--endpoint-url', ADMIN, '--output', 'json']
    return subprocess.run(command, env=environment, capture_output=True, text=True)


def by_cli():
    made = aws('create-participant-token', '--stage-arn', STAGE)
    expect(made.returncode == 0 and 'token' in json.loads(made.stdout)['participantToken'], 'the AWS CLI makes a token')
    for words in (('list-stages',), ('get-stage', '--arn', STAGE), ('delete-stage', '--arn', STAGE), ('create-stage',)):
        said = aws(*words)
        refusal = 'is not authorized to perform: ivs:%s,' % words[0].title().replace('-', '')
        expect(said.returncode != 0 and 'AccessDeniedException' in said.stderr and refusal in said.stderr,
               'the AWS CLI is refused %s, and prints why' % words[0])


def by_model(other):
    expect(denied(send('POST', '/' + ALLOWED, {'stageArn': other}), 'ivs:' + ALLOWED), 'a token of another stage is refused')
    for name in MODEL.operation_names:
        operation = MODEL.operation_model(name).http
        path = operation['requestUri'].replace('{resourceArn}', urllib.parse.quote(STAGE, safe=''))
        body = {'arn': STAGE, 'stageArn': STAGE, 'sourceStageArn': STAGE, 'destinationStageArn': STAGE}
        answer = send(operation['method'], path, body if operation['method'] == 'POST' else None)
        if name == ALLOWED:
            expect(answer[0] == 200, 'the one operation is answered')
        elif not denied(answer, 'ivs:' + name):
            raise SystemExit('FAULT: %s: %s' % (name, answer))
    expect(True, 'each of the %d other operations is refused by its name' % (len(MODEL.operation_names) - 1))


def by_node():
    for method, path, action in NODE:
        if not denied(send(method, path), 'stagedoor:' + action):
            raise SystemExit('FAULT: %s %s: %s' % (method, path, send(method, path)))
    expect(True, 'each of the %d addresses under /v1/ is refused by its action' % len(NODE))
    expect(send('GET', '/v1/nothing')[0] == 404 and send('GET', '/v1/overview', key=OWNER, secret=OWNER_SECRET)[0] == 200,
           'who may do everything still may')


def by_metrics():
    client = botocore.session.get_session().create_client(
        'cloudwatch', endpoint_url=ADMIN, region_name='us-east-1', aws_access_key_id=KEY, aws_secret_access_key=SECRET)
    one = {'Namespace': 'AWS/IVSRealTime', 'MetricName': 'Publishers', 'Dimensions': [{'Name': 'Stage', 'Value': STAGE.split('/')[1]}]}
    end = datetime.datetime.now(datetime.timezone.utc)
    span = {'StartTime': end - datetime.timedelta(minutes=5), 'EndTime': end}
    query = {'Id': 'a', 'MetricStat': {'Metric': one, 'Period': 60, 'Stat': 'Average'}}
    asked = {
        'ListMetrics': {'Dimensions': one['Dimensions']}, 'GetMetricData': dict(span, MetricDataQueries=[query]),
        'GetMetricStatistics': dict(span, **one, Period=60, Statistics=['Average'])}
    for operation, arguments in asked.items():
        try:
            getattr(client, botocore.xform_name(operation))(**arguments)
            raise SystemExit('FAULT: %s is answered' % operation)
        except botocore.exceptions.ClientError as error:
            told = error.response['Error']
            expect(told['Code'] == 'AccessDeniedException' and 'perform: cloudwatch:%s,' % operation in told['Message'],
                   "CloudWatch's %s is refused by its name" % operation)


def by_events():
    """The owner's, who reads by the cookie of a session at the console and signs out."""
    path = '/v1/console/session'
    signing = AWSRequest(method='POST', url=ADMIN + path, data=b'', headers={})
    SigV4Auth(Credentials(OWNER, OWNER_SECRET), 'ivs', 'us-east-1').add_auth(signing)
    cookie = {'Cookie': answered('POST', path, dict(signing.headers.items())).getheader('Set-Cookie').split(';')[0]}
    events = answered('GET', '/v1/events', cookie)
    expect(events.status == 200, 'a session at the console reads events')
    expect(answered('DELETE', path, cookie).status == 204, 'it signs out')
    # What comes until then is kept alive by comments, for ever.
    events.read()
    expect(answered('GET', '/v1/events', cookie).status == 403, 'its stream of events has ended, and no other one begins')


def by_console():
    with webdriver.chromium() as browser:
        browser.open(ADMIN + '/')
        browser.wait('form to sign in', '!document.querySelector("#sign-in").hidden')
        browser.fill('#access-key', KEY + webdriver.TAB + SECRET + webdriver.ENTER)
        browser.wait('reason', 'document.querySelector("#rights").checkVisibility()')
        expect('stagedoor:GetOverview' in browser.text('#rights'), 'the console says what the key may not see')
        shown = browser.run('return [...document.querySelectorAll("button")].filter(b => b.checkVisibility()).map(b => b.textContent)')
        expect(shown == ['Sign out'], 'it offers nothing else')
        expect(not browser.run('return document.querySelector("#overview").checkVisibility()'), 'and shows no overview')


other = json.loads(send('POST', '/CreateStage', {}, OWNER, OWNER_SECRET)[2])['stage']['arn']
by_cli()
by_model(other)
by_node()
by_metrics()
by_events()
by_console()
