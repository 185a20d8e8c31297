-- A participant's part in replications; nothing where the participant is not known.
--
-- KEYS: forwarded, participants, events. ARGV: queue, number, participant, lifetime in s, generation (not looked at), its part
-- as JSON.
local record = load()
if record then
    record.replication = cjson.decode(ARGV[6])
    save(record)
end
return done('', ARGV[4])
