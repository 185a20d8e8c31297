-- Nothing is left of a dead node: forgets it, unless it has come back. KEYS as for heartbeat. ARGV: the dead node. Answers whether
-- it was forgotten.
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local term = redis.call('ZSCORE', KEYS[1], ARGV[1])
if not term or tonumber(term) > now then return 0 end
redis.call('ZREM', KEYS[1], ARGV[1])
redis.call('HDEL', KEYS[2], ARGV[1])
redis.call('HDEL', KEYS[3], ARGV[1])
return 1
