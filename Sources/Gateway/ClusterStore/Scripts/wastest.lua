-- A publish was a network test: its participant is forgotten, if it did nothing else in the session, and a session of which it was all.
--
-- KEYS: forwarded, participants, events, sessions, session. ARGV: queue, number, participant, lifetime in s, generation, session.
local ofPublish = { JOINED = true, PUBLISH_STARTED = true, PUBLISH_STOPPED = true, LEFT = true }
local record = load()
if not record or record.connected or record.recording or record.replication then return done('', ARGV[4]) end
for _, text in ipairs(redis.call('LRANGE', KEYS[3], 0, -1)) do
    local event = cjson.decode(text)
    if event.generation ~= ARGV[5] or not ofPublish[event.name] then return done('', ARGV[4]) end
end
redis.call('HDEL', KEYS[2], ARGV[3])
redis.call('DEL', KEYS[3])
if redis.call('HLEN', KEYS[2]) == 0 then
    redis.call('ZREM', KEYS[4], ARGV[6])
    redis.call('DEL', KEYS[5])
end
return done('', ARGV[4])
