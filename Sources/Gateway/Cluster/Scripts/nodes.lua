-- The nodes that count as alive: of each its id and its record. KEYS as for heartbeat.
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)
local answers = {}
for _, node in ipairs(redis.call('ZRANGEBYSCORE', KEYS[1], now + 1, '+inf')) do
    answers[#answers + 1] = node
    answers[#answers + 1] = redis.call('HGET', KEYS[2], node) or ''
end
return answers
