-- An event. Answers 1 if it is one for the stream of all events, nothing if it came after its publish was closed.
--
-- KEYS: forwarded, participants, events. ARGV: queue, number, participant, lifetime in s, generation, name, JSON (empty:
-- for the stream only), whom it watches (empty: it is about nobody else).
local record, generation = load(), tonumber(ARGV[5])
if isTooLate(record, generation) then return done('', ARGV[4]) end
if ARGV[7] ~= '' then append(ARGV[7]) end
if record and generation >= tonumber(record.generation) then
    if ARGV[6] == 'PUBLISH_STARTED' then record.publishing = true end
    if ARGV[6] == 'PUBLISH_STOPPED' or ARGV[6] == 'LEFT' then record.publishing = false end
    if ARGV[6] == 'LEFT' then record.connected, record.watching = false, nil end
    if ARGV[6] == 'SUBSCRIBE_STARTED' then
        record.watching = record.watching or {}
        record.watching[ARGV[8]] = true
    elseif ARGV[6] == 'SUBSCRIBE_STOPPED' and record.watching then
        record.watching[ARGV[8]] = nil
        if next(record.watching) == nil then record.watching = nil end
    end
    save(record)
elseif record and record.overtaken and ARGV[6] == 'PUBLISH_STOPPED' and generation >= tonumber(record.overtaken) then
    record.overtaken = nil
    save(record)
end
return done('1', ARGV[4])
