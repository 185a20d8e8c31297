"""Uses the control API without end, leaving nothing behind; prints the number of calls after each round.

usage: api_churn.py ADMIN_URL ACCESS_KEY_ID SECRET REGION
"""
import itertools
import sys
import time

import boto3
from botocore.config import Config

url, key, secret, region = sys.argv[1:]
client = boto3.client(
    "ivs-realtime", endpoint_url=url, region_name=region, aws_access_key_id=key, aws_secret_access_key=secret,
    config=Config(retries={"max_attempts": 3}))
for number in itertools.count():
    stage = client.create_stage(name=f"churn-{number}")["stage"]["arn"]
    client.create_participant_token(stageArn=stage, userId="someone", capabilities=["PUBLISH"])
    ingest = client.create_ingest_configuration(stageArn=stage, ingestProtocol="RTMP", insecureIngest=True)
    client.update_stage(arn=stage, name=f"churned-{number}")
    client.list_stages(maxResults=10)
    client.list_stage_sessions(stageArn=stage)
    client.delete_ingest_configuration(arn=ingest["ingestConfiguration"]["arn"])
    client.delete_stage(arn=stage)
    print(8, flush=True)
    time.sleep(0.5)
