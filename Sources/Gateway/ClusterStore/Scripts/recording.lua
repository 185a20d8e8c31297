-- How a participant's recording stands now. It may begin before its participant is known, who finds it then. What comes late of a
-- former recording says nothing over one that goes on.
--
-- KEYS: forwarded, participants, events. ARGV: queue, number, participant, lifetime in s, generation (not looked at), the
-- recording as JSON.
local record, recording = load(), cjson.decode(ARGV[6])
local function isFormer(shown)
    local goesOn = shown and (shown.state == 'STARTING' or shown.state == 'ACTIVE')
    return goesOn and recording.state ~= 'STARTING' and shown.prefix ~= recording.prefix
end
if record then
    if not isFormer(record.recording) then
        record.recording = recording
        save(record)
    end
else
    redis.call('SET', earlyRecording(), ARGV[6], 'EX', ARGV[4])
end
return done('', ARGV[4])
