#!/usr/bin/env python3
"""publishers.py ADMIN_URL ACCESS_KEY_ID SECRET REGION NAME [TAG=VALUE ...]: makes publishers through the control API.

Each NAME becomes a stage of its own, with the tags, a stream key and a participant token. Prints one JSON line for each.
"""
import json
import sys

import boto3
from botocore.config import Config

url, key, secret, region, *words = sys.argv[1:]
tags = dict(word.split("=", 1) for word in words if "=" in word)
client = boto3.client(
    "ivs-realtime", endpoint_url=url, region_name=region, aws_access_key_id=key, aws_secret_access_key=secret,
    config=Config(retries={"total_max_attempts": 8, "mode": "standard"}))
for name in [word for word in words if "=" not in word]:
    stage = client.create_stage(name=name, tags=tags)["stage"]["arn"]
    ingest = client.create_ingest_configuration(stageArn=stage, ingestProtocol="RTMP", insecureIngest=True)
    token = client.create_participant_token(stageArn=stage, capabilities=["PUBLISH"])["participantToken"]
    made = ingest["ingestConfiguration"]
    print(json.dumps({
        "name": name, "stageArn": stage, "streamKey": made["streamKey"], "rtmpParticipantId": made["participantId"],
        "token": token["token"], "whipParticipantId": token["participantId"],
    }))
