-- Adds an entry and wakes who listens. KEYS: the stream. ARGV: its length at most, channel, then fields and values.
local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', unpack(ARGV, 3))
redis.call('PUBLISH', ARGV[2], id)
return id
