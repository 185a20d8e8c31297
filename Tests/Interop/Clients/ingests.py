"""Makes stages and RTMP ingest configurations through the control API, as an application would; prints one stream key a line.

usage: ingests.py ADMIN_URL ACCESS_KEY_ID SECRET REGION STAGES INGESTS_PER_STAGE [BUCKET]

With a bucket the stages are recorded into it.
"""
import sys

import boto3
from botocore.config import Config

url, key, secret, region, stages, ingests, *bucket = sys.argv[1:]
client = boto3.client(
    "ivs-realtime", endpoint_url=url, region_name=region, aws_access_key_id=key, aws_secret_access_key=secret,
    config=Config(retries={"total_max_attempts": 8, "mode": "standard"}))
settings = {}
if bucket:
    storage = client.create_storage_configuration(s3={"bucketName": bucket[0]})["storageConfiguration"]["arn"]
    settings["autoParticipantRecordingConfiguration"] = {"storageConfigurationArn": storage}
for stage in range(int(stages)):
    arn = client.create_stage(name=f"load-{stage}", **settings)["stage"]["arn"]
    for ingest in range(int(ingests)):
        made = client.create_ingest_configuration(
            name=f"load-{stage}-{ingest}", stageArn=arn, ingestProtocol="RTMP", insecureIngest=True)
        print(made["ingestConfiguration"]["streamKey"])
