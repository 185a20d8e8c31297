-- How a participant's recording stands now; nothing where the participant is not known.
--
-- KEYS: forwarded, participants, events. ARGV: queue, number, participant, lifetime in s, generation (not looked at), the
-- recording as JSON.
local record = load()
if record then
    record.recording = cjson.decode(ARGV[6])
    save(record)
end
return done('', ARGV[4])
