-- What every script of a participant has behind once.lua. KEYS[2]: the session's participants, KEYS[3]: the participant's events.
-- ARGV[3], ARGV[4]: participant, lifetime in s.
--
-- A participant's record is JSON: generation of the publish or watching that it tells of, closed (the highest generation that is
-- over for good), overtaken (the generation of a publish that went on when the present one came, until its node tells of its end),
-- connected, joined (it was connected once; nil where an earlier version wrote the record), published, publishing, watching
-- (whom, as the keys of an object), node (through which it watches; '' when it does not), recording, replication (its part), and
-- about; nothing here looks into the last but for firstJoinTime, userId and how it published. Numbers that need more than 53 bits
-- are text.
local function load()
    local text = redis.call('HGET', KEYS[2], ARGV[3])
    return text and cjson.decode(text)
end
local function save(record)
    redis.call('HSET', KEYS[2], ARGV[3], cjson.encode(record))
    redis.call('EXPIRE', KEYS[2], ARGV[4])
end
-- The list is KEYS[3] unless it is another participant's.
local function append(event, list)
    list = list or KEYS[3]
    redis.call('RPUSH', list, event)
    redis.call('LTRIM', list, -1000, -1)
    redis.call('EXPIRE', list, ARGV[4])
end
local function earlyRecording() return string.gsub(KEYS[2], ':participants$', ':early:') .. ARGV[3] end
local function isTooLate(record, generation)
    return record and generation > 0 and generation <= tonumber(record.closed)
end

-- Appends events of these names; of SUBSCRIBE_STOPPED whom it watched behind a colon.
local function tell(record, names, generation, list, time)
    local isReplica = record.replication ~= nil and record.replication.part == 'REPLICA'
    for _, name in ipairs(names) do
        local kind, remote = string.match(name, '^([^:]+):?(.*)$')
        append(cjson.encode({
            name = kind, time = time, userId = record.about.userId, errorCode = '', generation = generation,
            remoteParticipantId = remote ~= '' and remote or nil,
            replica = remote == '' and isReplica or nil}), list)
    end
end

-- Ends what goes on of a participant's record. Answers the names of the events that follow, SUBSCRIBE_STOPPED with whom it
-- watched behind a colon.
local function close(record, list, time)
    local names = {}
    for remote in pairs(record.watching or {}) do names[#names + 1] = 'SUBSCRIBE_STOPPED:' .. remote end
    table.sort(names)
    if record.publishing then names[#names + 1] = 'PUBLISH_STOPPED' end
    names[#names + 1] = 'LEFT'
    tell(record, names, record.generation, list, time)
    record.connected, record.publishing, record.watching, record.node = false, false, nil, ''
    return names
end
