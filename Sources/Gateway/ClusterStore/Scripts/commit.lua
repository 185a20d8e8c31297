-- Changes records of one slot if all of them still are what the change was based on.
--
-- KEYS: the records, then the set of the slot's stage members. ARGV for each record: expected version (0 for none), JSON
-- (empty: delete), moment of expiry in ms since 1970 (empty: never), whether the set lists it (1).
-- Answers {1, version, …} or, with nothing changed, {0, index, version, JSON, …} of the records that are others.
--
-- A new record begins at the clock's microseconds, so that a record deleted and made again never has an old version.
local count = #KEYS - 1
local stale = {0}
for i = 1, count do
    local found = redis.call('HMGET', KEYS[i], 'v', 'd')
    if (found[1] or '0') ~= ARGV[4 * i - 3] then
        stale[#stale + 1] = i
        stale[#stale + 1] = found[1] or '0'
        stale[#stale + 1] = found[2] or ''
    end
end
if #stale > 1 then return stale end
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]
local done = {1}
for i = 1, count do
    local expected, body, expiry, isMember = ARGV[4 * i - 3], ARGV[4 * i - 2], ARGV[4 * i - 1], ARGV[4 * i]
    local version = 0
    if body == '' then
        redis.call('DEL', KEYS[i])
        if isMember == '1' then redis.call('SREM', KEYS[count + 1], KEYS[i]) end
    else
        version = expected == '0' and now or expected + 1
        redis.call('HSET', KEYS[i], 'v', string.format('%.0f', version), 'd', body)
        if expiry == '' then redis.call('PERSIST', KEYS[i]) else redis.call('PEXPIREAT', KEYS[i], expiry) end
        if isMember == '1' then redis.call('SADD', KEYS[count + 1], KEYS[i]) end
    end
    done[#done + 1] = string.format('%.0f', version)
end
return done
