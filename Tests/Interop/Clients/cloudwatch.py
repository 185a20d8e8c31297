#!/usr/bin/env python3
"""cloudwatch.py ADMIN-URL KEY-ID SECRET STAGE-ID [SINCE]: reads a stage's metrics as tools read those of AWS/IVSRealTime.

By boto3 and the AWS CLI as they are, and by botocore held to each protocol of its model: `query`, which it spoke before 1.42, and
`smithy-rpc-v2-cbor`, which the SDKs for Go, Java and JavaScript speak. All must tell the same of the minutes that are over. Prints
`minute N` with the newest one, then a line of JSON for each series: count, sum, minimum and maximum of all its samples since SINCE
(seconds since 1970; an hour ago unless given). The exit status is 0 when everything was as it should be.
"""
import copy
import datetime
import json
import os
import subprocess
import sys
import time

import botocore.config
import botocore.exceptions
import botocore.loaders
import botocore.session

ADMIN, KEY, SECRET, STAGE = sys.argv[1:5]
# Nodes write a minute when it is over: a busy machine's may be late, and what one client reads another would not have had.
NOW = (int(time.time()) - 20) // 60 * 60
SINCE = int(sys.argv[5]) // 60 * 60 if len(sys.argv) > 5 else NOW - 3600
STATISTICS = ['SampleCount', 'Sum', 'Minimum', 'Maximum']
faults = []


def expect(condition, words):
    if not condition:
        faults.append(words)
        print('FAULT', words)


def client(protocol=None):
    """botocore's own choice of a protocol, or held to one."""
    session = botocore.session.Session()
    if protocol:
        loader = session.get_component('data_loader')
        load = loader.load_service_model

        def held(service, kind, **options):
            model = load(service, kind, **options)
            if service == 'cloudwatch' and kind == 'service-2':
                model = copy.deepcopy(model)
                model['metadata'].update(protocol=protocol, protocols=[protocol])
                if protocol == 'query':
                    model['metadata'].pop('awsQueryCompatible', None)
            return model

        loader.load_service_model = held
    return session.create_client(
        'cloudwatch', endpoint_url=ADMIN, region_name='us-east-1', aws_access_key_id=KEY, aws_secret_access_key=SECRET,
        config=botocore.config.Config(retries={'max_attempts': 0}, read_timeout=60))


def aws(*words):
    environment = dict(os.environ, AWS_ACCESS_KEY_ID=KEY, AWS_SECRET_ACCESS_KEY=SECRET, AWS_DEFAULT_REGION='us-east-1')
    command = ['aws', 'cloudwatch', *words, '--endpoint-url', ADMIN, '--output', 'json']
    run = subprocess.run(command, env=environment, capture_output=True, text=True)
    expect(run.returncode == 0, '%s: %s' % (words[0], run.stderr.strip()))
    return json.loads(run.stdout or '{}')


def name(metric):
    return ' '.join([metric['MetricName']] + [d['Value'] for d in metric['Dimensions']])


def queries(metrics):
    return [
        {'Id': 'm%d' % index, 'Label': '%s %s' % (statistic, name(metric)),
         'MetricStat': {'Metric': metric, 'Period': 60, 'Stat': statistic}}
        for index, (metric, statistic) in enumerate((m, s) for m in metrics for s in STATISTICS)
    ]


def moment(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)


def curves(answer):
    """Values by label, newest first."""
    return {result['Label']: [float(value) for value in result['Values']] for result in answer['MetricDataResults']}


def data(by, metrics, end):
    found = {}
    for start in range(0, len(metrics), 100):
        answer = by.get_metric_data(
            MetricDataQueries=queries(metrics[start:start + 100]), StartTime=moment(SINCE), EndTime=moment(end))
        expect(all(result['StatusCode'] == 'Complete' for result in answer['MetricDataResults']), 'every curve is complete')
        found.update(curves(answer))
    return found


def metrics(by):
    wanted = [{'Name': 'Stage', 'Value': STAGE}]
    return sorted(by.list_metrics(Namespace='AWS/IVSRealTime', Dimensions=wanted)['Metrics'], key=name)


def compare(metrics_known):
    """Every way of asking tells the same of what is over."""
    known = data(client(), metrics_known, NOW)
    for protocol in ('json', 'query', 'smithy-rpc-v2-cbor'):
        by = client(protocol)
        expect(metrics(by) == metrics_known, '%s lists the same metrics' % protocol)
        expect(data(by, metrics_known, NOW) == known, '%s has the same points' % protocol)
    listed = aws('list-metrics', '--namespace', 'AWS/IVSRealTime', '--dimensions', 'Name=Stage,Value=%s' % STAGE)
    expect(sorted(listed['Metrics'], key=name) == metrics_known, 'the AWS CLI lists the same metrics')
    span = ['--start-time', moment(SINCE).isoformat(), '--end-time', moment(NOW).isoformat()]
    some = metrics_known[:20]
    told = curves(aws('get-metric-data', '--metric-data-queries', json.dumps(queries(some)), *span))
    expect(told == {label: known[label] for label in told} and len(told) == 4 * len(some), 'the AWS CLI has the same points')
    for metric in some[:2]:
        words = ['--namespace', metric['Namespace'], '--metric-name', metric['MetricName'], '--dimensions']
        words += ['Name=%s,Value=%s' % (d['Name'], d['Value']) for d in metric['Dimensions']]
        points = aws('get-metric-statistics', *words, *span, '--period', '60', '--statistics', *STATISTICS)['Datapoints']
        newest = sorted(points, key=lambda point: point['Timestamp'], reverse=True)
        for statistic in STATISTICS:
            expect([p[statistic] for p in newest] == known['%s %s' % (statistic, name(metric))], 'get-metric-statistics: the same')


def refuse():
    """Errors reach clients of each protocol with CloudWatch's code; strangers get nothing."""
    for protocol in (None, 'query', 'smithy-rpc-v2-cbor'):
        try:
            client(protocol).get_metric_statistics(
                Namespace='AWS/IVSRealTime', MetricName='Publishers', StartTime=moment(NOW), EndTime=moment(SINCE), Period=60,
                Statistics=['Average'])
            expect(False, 'a time that ends before it begins is refused')
        except botocore.exceptions.ClientError as error:
            expect(error.response['Error']['Code'] in ('InvalidParameterValue', 'InvalidParameterValueException'),
                   '%s is told the code, not %s' % (protocol, error.response['Error']))
            expect('StartTime' in error.response['Error']['Message'], '%s is told why' % protocol)
    empty = client().list_metrics(Namespace='AWS/Billing', MetricName='EstimatedCharges')
    expect(empty['Metrics'] == [], 'other namespaces have nothing')
    global SECRET
    right, SECRET = SECRET, 'wrong'
    try:
        client().list_metrics()
        expect(False, 'a wrong secret is refused')
    except botocore.exceptions.ClientError as error:
        expect(error.response['ResponseMetadata']['HTTPStatusCode'] == 403, 'a wrong secret is refused by 403')
    SECRET = right


def main():
    found = metrics(client())
    compare(found)
    refuse()
    print('minute', NOW)
    # The minute that goes on is told as well.
    values = data(client(), found, NOW + 120)
    for metric in found:
        counts, sums, least, most = (values['%s %s' % (statistic, name(metric))] for statistic in STATISTICS)
        if counts:
            print(json.dumps({'name': name(metric), 'count': sum(counts), 'sum': sum(sums), 'minimum': min(least),
                              'maximum': max(most)}))


main()
sys.exit(1 if faults else 0)
