-- Points of metrics of one stage, whose running session has been heard of by that. Repeated, it changes nothing.
--
-- KEYS: the hour's points, the stage's series, its running session, its sessions. ARGV: the write's own name, the points as JSON,
-- lifetime in s, their newest minute, the oldest minute that is kept, lifetime of a running session in s, the series.
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
for index = 7, #ARGV do redis.call('ZADD', KEYS[2], ARGV[4], ARGV[index]) end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[5])
redis.call('EXPIRE', KEYS[2], ARGV[3])
local running = redis.call('HGET', KEYS[3], 'id')
if running then
    local session = KEYS[3] .. ':' .. running
    for _, key in ipairs({ session, session .. ':participants', KEYS[4] }) do redis.call('EXPIRE', key, ARGV[6]) end
end
return 1
