#!/usr/bin/python3
"""openstack_swift.py FOLDER: OpenStack Swift with s3api, of Debian's package python3-swift, in one process and one folder.

Prints {"port"} of its proxy when all four servers listen, and serves until standard input ends or it is killed. A folder that was
served before is served again: the same ports, and all that was stored. The key that it knows is stagedoor:recorder with the secret
`secret-of-s3`; its location is us-east-1. Nothing of /etc is read or written.
"""
import json
import os
import sys

import eventlet
import eventlet.tpool
import eventlet.wsgi

eventlet.monkey_patch()
from swift.common import utils  # noqa: E402

FOLDER = os.path.abspath(sys.argv[1])
utils.SWIFT_CONF_FILE = FOLDER + '/swift.conf'
utils.HASH_PATH_SUFFIX = b'stagedoor'
BACKENDS = ('object', 'container', 'account')

BACKEND = """
[DEFAULT]
devices = %(folder)s/devices
swift_dir = %(folder)s
mount_check = false
workers = 0
log_level = ERROR
[pipeline:main]
pipeline = %(name)s-server
[app:%(name)s-server]
use = egg:swift#%(name)s
"""
# Without sleeps of authentication failures and limits of rates: one is a test's wait, the other none of S3's.
PROXY = """
[DEFAULT]
swift_dir = %(folder)s
workers = 0
log_level = ERROR
[pipeline:main]
pipeline = catch_errors memory s3api tempauth copy slo dlo proxy-server
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:memory]
paste.filter_factory = openstack_swift:memory
[filter:s3api]
use = egg:swift#s3api
location = us-east-1
s3_acl = false
dns_compliant_bucket_names = true
[filter:tempauth]
use = egg:swift#tempauth
user_stagedoor_recorder = secret-of-s3 .admin
[filter:copy]
use = egg:swift#copy
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
allow_account_management = true
"""


class Memory:
    """What Swift keeps in memcached, for this process alone."""

    def __init__(self):
        self.kept = {}

    def set(self, key, value, **_):
        self.kept[key] = value

    def get(self, key, **_):
        return self.kept.get(key)

    def delete(self, key, **_):
        self.kept.pop(key, None)

    def incr(self, key, delta=1, **_):
        self.kept[key] = int(self.kept.get(key) or 0) + delta
        return self.kept[key]


def memory(*_, **__):
    cache = Memory()

    def wrap(app):
        def serve(environment, start):
            environment['swift.cache'] = cache
            return app(environment, start)
        return serve
    return wrap


def write(name, text):
    path = '%s/%s' % (FOLDER, name)
    with open(path, 'w') as file:
        file.write(text)
    return path


def make(ports):
    """The rings: one device, one copy."""
    from swift.common.ring.builder import RingBuilder
    os.makedirs(FOLDER + '/devices/disk')
    write('swift.conf', '[swift-hash]\nswift_hash_path_suffix = stagedoor\n')
    for name in BACKENDS:
        ring = RingBuilder(part_power=4, replicas=1, min_part_hours=0)
        ring.add_dev({'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': ports[name], 'device': 'disk', 'weight': 1})
        ring.rebalance()
        ring.get_ring().save('%s/%s.ring.gz' % (FOLDER, name))
    write('ports.json', json.dumps(ports))


def main():
    former = {}
    if os.path.exists(FOLDER + '/ports.json'):
        with open(FOLDER + '/ports.json') as file:
            former = json.load(file)
    sockets = {name: eventlet.listen(('127.0.0.1', former.get(name, 0)), backlog=128) for name in BACKENDS + ('proxy',)}
    if not former:
        make({name: socket.getsockname()[1] for name, socket in sockets.items()})
    from swift.common.wsgi import loadapp
    for name, socket in sockets.items():
        text = PROXY if name == 'proxy' else BACKEND
        app = loadapp(write(name + '.conf', text % {'folder': FOLDER, 'name': name}))
        eventlet.spawn(eventlet.wsgi.server, socket, app, log_output=False)
    print(json.dumps({'port': sockets['proxy'].getsockname()[1]}), flush=True)
    # The caller's pipe: when it is gone, so is who asked for this server.
    if os.readlink('/proc/self/fd/0') != '/dev/null':
        eventlet.tpool.execute(sys.stdin.read)
    else:
        eventlet.event.Event().wait()


if __name__ == '__main__':
    import openstack_swift
    openstack_swift.main()
    os._exit(0)
