-- A line of a recording's journal. One node at a time has the recording: it that wrote last, until another one takes it over or
-- it is closed. What others write of it is dropped.
--
-- KEYS: forwarded, the participant's latest recording, the journal. ARGV: queue, number, prefix, lifetime in s, kind, node, text.
local last = redis.call('LINDEX', KEYS[3], -1)
local kind, node
if last then kind, node = string.match(last, '^(%a+)\n([^\n]*)\n') end
if ARGV[5] == 'begins' then
    redis.call('SET', KEYS[2], ARGV[3], 'EX', ARGV[4])
elseif not last or kind == 'closes' or (node ~= ARGV[6] and ARGV[5] ~= 'takesOver') then
    return done('', ARGV[4])
end
redis.call('RPUSH', KEYS[3], ARGV[5] .. '\n' .. ARGV[6] .. '\n' .. ARGV[7])
if ARGV[5] == 'closes' then redis.call('LTRIM', KEYS[3], -1, -1) end
redis.call('EXPIRE', KEYS[3], ARGV[4])
return done('', ARGV[4])
