-- When a node was last heard of. KEYS as for heartbeat. ARGV: the node, the lifetime of heartbeats (ms).
--
-- Answers how long ago (ms), or nothing where nobody knows the node.
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local term = redis.call('ZSCORE', KEYS[1], ARGV[1])
return term and now + tonumber(ARGV[2]) - tonumber(term)
