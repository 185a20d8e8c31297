-- A node lives. KEYS: until when each node counts as alive, the nodes' records, who buries whom.
--
-- ARGV: node, its record ('' when unchanged), lifetime (ms), '1' to bury the dead, for how long a burial is one node's (ms).
-- Answers the dead nodes that are this one's to bury.
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local node = ARGV[1]

redis.call('ZADD', KEYS[1], now + tonumber(ARGV[3]), node)
redis.call('HDEL', KEYS[3], node)
if ARGV[2] ~= '' then redis.call('HSET', KEYS[2], node, ARGV[2]) end
if ARGV[4] ~= '1' then return {} end

local mine = {}
for _, dead in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', now, 'LIMIT', 0, 16)) do
    local term, survivor = string.match(redis.call('HGET', KEYS[3], dead) or '0 ', '^(%d+) (.*)$')
    if survivor == node or tonumber(term) <= now then
        redis.call('HSET', KEYS[3], dead, string.format('%.0f %s', now + tonumber(ARGV[5]), node))
        mine[#mine + 1] = dead
    end
end
return mine
