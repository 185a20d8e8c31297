-- What every script of a participant has behind once.lua. KEYS[2]: the session's participants, KEYS[3]: the participant's events.
-- ARGV[3], ARGV[4]: participant, lifetime in s.
--
-- A participant's record is JSON: generation of the publish that it tells of, closed (the highest generation that is over for
-- good), connected, published, publishing, recording, and about; nothing here looks into the last two but for about's
-- firstJoinTime and userId. Numbers
-- that need more than 53 bits are text.
local function load()
    local text = redis.call('HGET', KEYS[2], ARGV[3])
    return text and cjson.decode(text)
end
local function save(record)
    redis.call('HSET', KEYS[2], ARGV[3], cjson.encode(record))
    redis.call('EXPIRE', KEYS[2], ARGV[4])
end
local function append(event)
    redis.call('RPUSH', KEYS[3], event)
    redis.call('LTRIM', KEYS[3], -1000, -1)
    redis.call('EXPIRE', KEYS[3], ARGV[4])
end
local function isTooLate(record, generation)
    return record and generation > 0 and generation <= tonumber(record.closed)
end
