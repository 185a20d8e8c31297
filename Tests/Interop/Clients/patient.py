"""Has aiortc wait on a machine that is busy with others, and keep to what lasts there. It is enough to import this.

aioice gives a connection up when the answers to six checks of consent in a row (RFC 7675), one in 5 s, are not read within half a
second each. A process whose decoders get little CPU comes to read them later than that, and media that it has not read meanwhile
has to lie in its socket. It takes any address for its own, the other ends of cables that tests beside it make and take away as well
(Harness/Cable.swift, Harness/OutsideNetwork.swift): a connection by one of them ends with that test.
"""
import re
import sys

from aioice import ice, turn
from aiortc import RTCIceGatherer

ice.CONSENT_FAILURES = 120  # ten minutes
turn.UDP_SOCKET_BUFFER_SIZE = 4 << 20  # of all its sockets
every_address = ice.get_host_addresses


def lasting_addresses(use_ipv4, use_ipv6):
    if any(re.match(r'https?://127\.0\.0\.1:\d+/wh[ie]p', argument) for argument in sys.argv):
        return ['127.0.0.1']
    found = every_address(use_ipv4, use_ipv6)
    return [address for address in found if not address.startswith(('10.77.', '198.51.100.'))] or found


ice.get_host_addresses = lasting_addresses
# Nothing outside is asked for an address, and nothing waits for its answer.
RTCIceGatherer.getDefaultIceServers = classmethod(lambda cls: [])
