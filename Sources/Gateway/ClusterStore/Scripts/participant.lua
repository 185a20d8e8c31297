-- A participant as it is now. What an older generation says of it is dropped, as is what is said after it was closed.
--
-- KEYS: forwarded, participants, events, known. ARGV: queue, number, participant, lifetime in s, generation (0: holds no
-- lease), connected, published (1), what is about it as JSON, now in µs, µs before which known participants have expired,
-- through which node it watches ('' when it does not), how many that never published and have left are kept.
local record, generation = load(), tonumber(ARGV[5])
redis.call('ZADD', KEYS[4], ARGV[9], ARGV[3])
redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', '(' .. ARGV[10])
redis.call('EXPIRE', KEYS[4], ARGV[4])
if isTooLate(record, generation) then return done('', ARGV[4]) end
if record and generation < tonumber(record.generation) then return done('', ARGV[4]) end
local about = cjson.decode(ARGV[8])
-- Who was only turned away until now joins now. What an earlier version wrote does not say so, and keeps its time; who joined
-- there after this version turned it away, and has not published, joins here once more.
local joins = ARGV[6] == '1' and record and record.joined == false and not (record.connected or record.published)
if record and record.about.firstJoinTime and not joins then about.firstJoinTime = record.about.firstJoinTime end
if record and about.ingestProtocol == '' then
    about.ingestProtocol = record.about.ingestProtocol
    about.ingestConfigurationArn = record.about.ingestConfigurationArn
end
record = record or {generation = '0', closed = '0', joined = false, published = false, publishing = false}
local early = redis.call('GET', earlyRecording())
if early then
    record.recording = cjson.decode(early)
    redis.call('DEL', earlyRecording())
end
if generation > tonumber(record.generation) then
    if record.publishing then record.overtaken = record.generation end
    record.publishing = false
end
record.generation, record.about = ARGV[5], about
record.connected = ARGV[6] == '1'
if record.connected then record.joined = true end
record.published = record.published or ARGV[7] == '1'
record.node = ARGV[11]
if not record.connected then record.publishing, record.watching, record.node = false, nil, '' end
save(record)

-- Crowds of short viewers leave no more than so many of a session; looked at once in a while.
local kept = tonumber(ARGV[12])
if tonumber(ARGV[2]) % 64 == 0 and redis.call('HLEN', KEYS[2]) > kept then
    local former, flat = {}, redis.call('HGETALL', KEYS[2])
    for i = 1, #flat, 2 do
        local other = cjson.decode(flat[i + 1])
        if not other.connected and not other.published then
            former[#former + 1] = { flat[i], tonumber(other.about.firstJoinTime) or 0 }
        end
    end
    table.sort(former, function(a, b) return a[2] > b[2] end)
    local prefix = string.gsub(KEYS[2], ':participants$', ':events:')
    for i = kept + 1, #former do
        redis.call('HDEL', KEYS[2], former[i][1])
        redis.call('DEL', prefix .. former[i][1])
        redis.call('ZREM', KEYS[4], former[i][1])
    end
end
return done('', ARGV[4])
