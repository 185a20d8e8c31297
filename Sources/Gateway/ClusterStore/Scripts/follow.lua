-- Entries of the stream after one that was read; false when that one is gone, or the newest known, and others with it.
--
-- KEYS: the stream. ARGV: the last entry read, how many at most, the newest entry known.
for _, id in ipairs({ARGV[1], ARGV[3]}) do
    if #redis.call('XRANGE', KEYS[1], id, id) == 0 then return false end
end
local found = redis.call('XREAD', 'COUNT', ARGV[2], 'STREAMS', KEYS[1], ARGV[1])
return found and found[1][2] or {}
