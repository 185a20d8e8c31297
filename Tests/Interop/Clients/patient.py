"""Has aiortc wait on a machine that is busy with others. It is enough to import this.

aioice gives a connection up when the answers to six checks of consent in a row (RFC 7675), one in 5 s, are not read within half a
second each. A process whose decoders get little CPU comes to read them later than that.
"""
from aioice import ice

ice.CONSENT_FAILURES = 120  # ten minutes
