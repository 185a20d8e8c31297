-- A publish is over whoever held it. Answers the names of the events that follow and the user, separated by blanks.
--
-- KEYS: forwarded, participants, events. ARGV: queue, number, participant, lifetime in s, generation, time in ns.
local record, generation = load(), tonumber(ARGV[5])
if not record then return done('', ARGV[4]) end
if generation > tonumber(record.closed) then record.closed = ARGV[5] end
local names = {}
if record.connected and tonumber(record.generation) <= generation then
    if record.publishing then names = {'PUBLISH_STOPPED', 'LEFT'} else names = {'LEFT'} end
    for _, name in ipairs(names) do
        append(cjson.encode({
            name = name, time = ARGV[6], userId = record.about.userId, errorCode = '', generation = ARGV[5]}))
    end
    record.connected, record.publishing = false, false
end
save(record)
if #names == 0 then return done('', ARGV[4]) end
return done(table.concat(names, ',') .. ' ' .. record.about.userId, ARGV[4])
