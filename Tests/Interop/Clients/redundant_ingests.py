"""Makes ingest configurations of two encoders through the control API; prints both stream keys of each, one after the other.

usage: redundant_ingests.py ADMIN_URL ACCESS_KEY_ID SECRET REGION STAGES CONFIGURATIONS_PER_STAGE
"""
import sys

import boto3
from botocore.config import Config

url, key, secret, region, stages, configurations = sys.argv[1:]
client = boto3.client(
    "ivs-realtime", endpoint_url=url, region_name=region, aws_access_key_id=key, aws_secret_access_key=secret,
    config=Config(retries={"total_max_attempts": 8, "mode": "standard"}))
for stage in range(int(stages)):
    arn = client.create_stage(name=f"pairs-{stage}")["stage"]["arn"]
    for number in range(int(configurations)):
        made = client.create_ingest_configuration(
            name=f"pair-{stage}-{number}", stageArn=arn, ingestProtocol="RTMP", insecureIngest=True, redundantIngest=True)
        for credential in made["ingestConfiguration"]["redundantIngestCredentials"]:
            print(credential["streamKey"])
