"""Makes stages and participant tokens through the control API; prints one token a line.

usage: tokens.py ADMIN_URL ACCESS_KEY_ID SECRET REGION STAGES TOKENS_PER_STAGE
"""
import sys

import boto3
from botocore.config import Config

url, key, secret, region, stages, tokens = sys.argv[1:]
client = boto3.client(
    "ivs-realtime", endpoint_url=url, region_name=region, aws_access_key_id=key, aws_secret_access_key=secret,
    config=Config(retries={"total_max_attempts": 8, "mode": "standard"}))
for stage in range(int(stages)):
    arn = client.create_stage(name=f"tokens-{stage}")["stage"]["arn"]
    for number in range(int(tokens)):
        made = client.create_participant_token(stageArn=arn, userId=f"user-{number}", capabilities=["PUBLISH"])
        print(made["participantToken"]["token"])
