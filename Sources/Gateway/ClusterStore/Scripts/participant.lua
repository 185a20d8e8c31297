-- A participant as it is now. What an older generation says of it is dropped, as is what is said after it was closed.
--
-- KEYS: forwarded, participants, events, known. ARGV: queue, number, participant, lifetime in s, generation (0: holds no
-- lease), connected, published (1), what is about it as JSON, now in µs, µs before which known participants have expired.
local record, generation = load(), tonumber(ARGV[5])
redis.call('ZADD', KEYS[4], ARGV[9], ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', '(' .. ARGV[10])
redis.call('EXPIRE', KEYS[4], ARGV[4])
if isTooLate(record, generation) then return done('', ARGV[4]) end
if record and generation < tonumber(record.generation) then return done('', ARGV[4]) end
local about = cjson.decode(ARGV[8])
if record and record.about.firstJoinTime then about.firstJoinTime = record.about.firstJoinTime end
record = record or {generation = '0', closed = '0', published = false, publishing = false}
if generation > tonumber(record.generation) then record.publishing = false end
record.generation, record.about = ARGV[5], about
record.connected = ARGV[6] == '1'
record.published = record.published or ARGV[7] == '1'
if not record.connected then record.publishing = false end
save(record)
return done('', ARGV[4])
