#!/usr/bin/env python3
"""A store that speaks S3 and fails as told: moto's server behind a front that looks at every PUT.

    s3_store.py serve BUCKET [FAULT…]         prints {"port", "direct"}, serves until standard input ends
    s3_store.py read ENDPOINT BUCKET          prints {key: {"size", "sha256", "type", "modified"}} of every object
    s3_store.py copy ENDPOINT BUCKET FOLDER   writes every object there, under its key, and prints the same
    s3_store.py make ENDPOINT BUCKET          makes a bucket
    s3_store.py remove ENDPOINT BUCKET        removes it with all that it holds

The last four ask any store, by AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or as moto's.

Faults are used up in their order, one for each PUT: 503, 429, reset (in the body), slow (a body that is read in small steps), lost (stored,
but the answer is cut off), skew (the clock is wrong, says the store), 403, pass. When they are used up, everything passes.
"""
import datetime
import hashlib
import http.client
import http.server
import json
import os
import socket
import socketserver
import struct
import sys
import threading
import time

ERROR = '<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>%s</Message>%s</Error>'


class Front(http.server.BaseHTTPRequestHandler):
    protocol_version = 'HTTP/1.1'
    faults, lock, upstream = [], threading.Lock(), None

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except OSError:
            self.close_connection = True

    def log_message(self, *_):
        pass

    def fault(self):
        with self.lock:
            return self.faults.pop(0) if self.faults else 'pass'

    def answer(self, status, code, message='', more=''):
        body = (ERROR % (code, message, more)).encode()
        self.send_response(status)
        self.send_header('Content-Type', 'application/xml')
        self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def reset(self):
        """Ends the connection as a machine that falls over does."""
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack('ii', 1, 0))
        self.connection.close()
        self.close_connection = True

    def read_body(self, slowly=False):
        length, body = int(self.headers.get('Content-Length', 0)), b''
        while len(body) < length:
            part = self.rfile.read(min(65_536 if slowly else 1 << 20, length - len(body)))
            if not part:
                raise OSError('cut off')
            body += part
            if slowly:
                time.sleep(0.02)
        return body

    def do_PUT(self):
        fault = self.fault()
        if fault == 'reset':
            self.rfile.read(int(self.headers.get('Content-Length', 0)) // 2)
            return self.reset()
        body = self.read_body(slowly=fault == 'slow')
        if fault in ('503', '429'):
            return self.answer(int(fault), 'SlowDown', 'Please reduce your request rate.')
        if fault == '403':
            return self.answer(403, 'AccessDenied', 'Access Denied')
        if fault == 'skew':
            now = datetime.datetime.now(datetime.timezone.utc).strftime('%Y-%m-%dT%H:%M:%SZ')
            return self.answer(403, 'RequestTimeTooSkewed', 'The difference is too large.', '<ServerTime>%s</ServerTime>' % now)
        if hashlib.sha256(body).hexdigest() != self.headers.get('X-Amz-Content-Sha256'):
            return self.answer(400, 'XAmzContentSHA256Mismatch', 'The hash is not that of the body.')
        self.forward(body, isLost=fault == 'lost')

    def do_GET(self):
        self.forward(self.read_body())

    do_HEAD = do_DELETE = do_POST = do_GET

    def forward(self, body, isLost=False):
        link = http.client.HTTPConnection('127.0.0.1', self.upstream)
        link.request(self.command, self.path, body=body, headers=dict(self.headers.items()))
        answer = link.getresponse()
        content = answer.read()
        if isLost:
            return self.reset()
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ('content-length', 'transfer-encoding', 'connection', 'date', 'server'):
                self.send_header(name, value)
        self.send_header('Content-Length', answer.getheader('Content-Length', str(len(content))))
        self.end_headers()
        if self.command != 'HEAD':
            self.wfile.write(content)


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True


def client(endpoint):
    import boto3
    return boto3.client(
        's3', endpoint_url=endpoint, region_name='us-east-1', aws_access_key_id=os.environ.get('AWS_ACCESS_KEY_ID', 'AKIDEXAMPLE'),
        aws_secret_access_key=os.environ.get('AWS_SECRET_ACCESS_KEY', 'secret'))


def serve(bucket, *faults):
    os.environ.setdefault('MOTO_S3_ALLOW_CROSSACCOUNT_ACCESS', 'true')
    import logging
    logging.getLogger('werkzeug').setLevel(logging.ERROR)
    from moto.server import ThreadedMotoServer
    store = ThreadedMotoServer(ip_address='127.0.0.1', port=0, verbose=False)
    store.start()
    Front.upstream = store.get_host_and_port()[1]
    client('http://127.0.0.1:%d' % Front.upstream).create_bucket(Bucket=bucket)
    Front.faults = list(faults)
    front = Server(('127.0.0.1', 0), Front)
    threading.Thread(target=front.serve_forever, daemon=True).start()
    print(json.dumps({'port': front.server_address[1], 'direct': Front.upstream}), flush=True)
    if os.readlink('/proc/self/fd/0') == '/dev/null':
        threading.Event().wait()
    sys.stdin.read()
    os._exit(0)


def objects(store, bucket):
    for page in store.get_paginator('list_objects_v2').paginate(Bucket=bucket):
        for item in page.get('Contents', []):
            yield item['Key']


def read(endpoint, bucket, folder=None):
    store, found = client(endpoint), {}
    for key in objects(store, bucket):
        one = store.get_object(Bucket=bucket, Key=key)
        body = one['Body'].read()
        found[key] = {
            'size': len(body), 'sha256': hashlib.sha256(body).hexdigest(), 'type': one['ContentType'],
            'modified': one['LastModified'].timestamp()}
        if folder:
            path = os.path.join(folder, key)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, 'wb') as file:
                file.write(body)
    print(json.dumps(found))


def make(endpoint, bucket):
    client(endpoint).create_bucket(Bucket=bucket)


def remove(endpoint, bucket):
    """Whoever stores into it goes on meanwhile: what came since it was emptied is removed as well."""
    store, end = client(endpoint), time.monotonic() + 60
    while True:
        for key in list(objects(store, bucket)):
            store.delete_object(Bucket=bucket, Key=key)
        try:
            return store.delete_bucket(Bucket=bucket)
        except store.exceptions.ClientError as error:
            if error.response['Error']['Code'] != 'BucketNotEmpty' or time.monotonic() > end:
                raise


{'serve': serve, 'read': read, 'copy': read, 'make': make, 'remove': remove}[sys.argv[1]](*sys.argv[2:])
