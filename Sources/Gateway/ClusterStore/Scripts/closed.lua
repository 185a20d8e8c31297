-- A publish is over whoever held it, or all watching through a node: participant is then > and the node. Answers a line for each
-- participant that left: id, the names of the events that follow, the user as JSON, which has no line breaks; separated by blanks.
--
-- KEYS: forwarded, participants, events. ARGV: queue, number, participant, lifetime in s, generation, time in ns.
local lines = {}
local function add(participant, names, record)
    lines[#lines + 1] = participant .. ' ' .. table.concat(names, ',') .. ' ' .. cjson.encode(record.about.userId)
end

if string.sub(ARGV[3], 1, 1) == '>' then
    local node, flat = string.sub(ARGV[3], 2), redis.call('HGETALL', KEYS[2])
    local prefix = string.gsub(KEYS[2], ':participants$', ':events:')
    for i = 1, #flat, 2 do
        local record = cjson.decode(flat[i + 1])
        if record.connected and record.node == node then
            if tonumber(record.generation) > tonumber(record.closed) then record.closed = record.generation end
            add(flat[i], close(record, prefix .. flat[i], ARGV[6]), record)
            redis.call('HSET', KEYS[2], flat[i], cjson.encode(record))
        end
    end
    return done(table.concat(lines, '\n'), ARGV[4])
end

local record, generation = load(), tonumber(ARGV[5])
if not record then return done('', ARGV[4]) end

local overtaken = record.overtaken
if overtaken and tonumber(overtaken) <= generation then
    local names = { 'PUBLISH_STOPPED', 'LEFT' }
    record.overtaken = nil
    tell(record, names, overtaken, KEYS[3], ARGV[6])
    add(ARGV[3], names, record)
end
if generation > tonumber(record.closed) then record.closed = ARGV[5] end
if record.connected and tonumber(record.generation) <= generation then
    record.generation = ARGV[5]
    add(ARGV[3], close(record, KEYS[3], ARGV[6]), record)
end
save(record)
return done(table.concat(lines, '\n'), ARGV[4])
