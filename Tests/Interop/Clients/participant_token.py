"""Makes tokens of new participants through the control API, as an application would, and prints one a line.

usage: participant_token.py ADMIN_URL ACCESS_KEY_ID SECRET REGION STAGE_ARN [COUNT]
"""
import sys

import boto3
from botocore.config import Config

url, key, secret, region, stage, *count = sys.argv[1:]
client = boto3.client(
    "ivs-realtime", endpoint_url=url, region_name=region, aws_access_key_id=key, aws_secret_access_key=secret,
    config=Config(retries={"total_max_attempts": 8, "mode": "standard"}))
for _ in range(int(count[0]) if count else 1):
    print(client.create_participant_token(stageArn=stage)["participantToken"]["token"])
