-- Appends to the stream of all events, once. KEYS: the stream, how far queues have come in it.
-- ARGV: queue, number, length at most, channel, the events as JSON.
if tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or '0') >= tonumber(ARGV[2]) then return 0 end
for index = 5, #ARGV do redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[3], '*', 'e', ARGV[index]) end
redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
redis.call('PUBLISH', ARGV[4], '')
return 1
