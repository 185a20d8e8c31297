-- How a participant's recording stands now. It may begin before its participant is known, who finds it then.
--
-- KEYS: forwarded, participants, events. ARGV: queue, number, participant, lifetime in s, generation (not looked at), the
-- recording as JSON.
local record = load()
if record then
    record.recording = cjson.decode(ARGV[6])
    save(record)
else
    redis.call('SET', earlyRecording(), ARGV[6], 'EX', ARGV[4])
end
return done('', ARGV[4])
