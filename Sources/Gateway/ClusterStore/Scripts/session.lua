-- A session begins, or its end is known. One that others had ended may go on, as where its node was away: while it is the stage's
-- running one it has no end, whichever of both is told last.
--
-- KEYS: forwarded, sessions, session, participants, the stage's running session. ARGV: queue, number, session, its place in the order
-- in µs (empty when it began before), start in ns, end in ns (empty while it goes on), lifetime in s, µs before which those of the
-- stage's sessions began that may have expired.
local runs = redis.call('HGET', KEYS[5], 'id') == ARGV[3]
if runs then redis.call('HDEL', KEYS[3], 'end') end
if runs and ARGV[6] ~= '' then return done('', ARGV[7]) end
if ARGV[4] ~= '' then
    redis.call('ZADD', KEYS[2], 'NX', ARGV[4], ARGV[3])
    redis.call('HSETNX', KEYS[3], 'start', ARGV[5])
end
local prefix = string.sub(KEYS[3], 1, -1 - #ARGV[3])
for _, session in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[8])) do
    if redis.call('EXISTS', prefix .. session) == 0 then redis.call('ZREM', KEYS[2], session) end
end
if ARGV[6] ~= '' and redis.call('EXISTS', KEYS[3]) == 1 then
    -- The first end of one that went on may come behind its second, as of a node that was down. All have 19 digits.
    if ARGV[6] > (redis.call('HGET', KEYS[3], 'end') or '') then redis.call('HSET', KEYS[3], 'end', ARGV[6]) end
    for _, participant in ipairs(redis.call('HKEYS', KEYS[4])) do
        redis.call('EXPIRE', KEYS[3] .. ':events:' .. participant, ARGV[7])
    end
    redis.call('EXPIRE', KEYS[4], ARGV[7])
end
redis.call('EXPIRE', KEYS[3], ARGV[7])
redis.call('EXPIRE', KEYS[2], ARGV[7])
return done('', ARGV[7])
