-- A publish is over whoever held it, or all watching through a node: participant is then > and the node. Answers a line for each
-- participant that left: id, the names of the events that follow, the user, separated by blanks.
--
-- KEYS: forwarded, participants, events. ARGV: queue, number, participant, lifetime in s, generation, time in ns.
local lines = {}
local function add(participant, names, record)
    lines[#lines + 1] = participant .. ' ' .. table.concat(names, ',') .. ' ' .. record.about.userId
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

-- Whether a node has told of the end of a publish that a newer one came upon. It may have died before it could.
local function has_stopped(first, last)
    for _, text in ipairs(redis.call('LRANGE', KEYS[3], 0, -1)) do
        local event = cjson.decode(text)
        local its = tonumber(event.generation)
        if event.name == 'PUBLISH_STOPPED' and its >= first and its < last then return true end
    end
    return false
end

local overtaken = record.overtaken
if overtaken and tonumber(overtaken) <= generation then
    record.overtaken = nil
    if not has_stopped(tonumber(overtaken), tonumber(record.generation)) then
        local names = { 'PUBLISH_STOPPED', 'LEFT' }
        tell(record, names, overtaken, KEYS[3], ARGV[6])
        add(ARGV[3], names, record)
    end
end
if generation > tonumber(record.closed) then record.closed = ARGV[5] end
if record.connected and tonumber(record.generation) <= generation then
    record.generation = ARGV[5]
    add(ARGV[3], close(record, KEYS[3], ARGV[6]), record)
end
save(record)
return done(table.concat(lines, '\n'), ARGV[4])
