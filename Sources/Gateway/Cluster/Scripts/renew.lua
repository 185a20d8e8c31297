-- Renews what one node holds of the stage, and takes again what the server has forgotten or given to nobody.
--
-- ARGV: node, lease (ms), limit of sets, code for those beyond it; then of each lease participant, generation, set, credential,
-- session id, its start, 1 if the history knows that session. Answers, for each lease in its turn: ok; lost (node, generation of
-- who has it); end (code, words); or revived (generation): the history may say that it left, as its node was taken for dead, and it
-- goes on under a new generation.
--
-- Reads no more of the stage than it renews, unless something had to be taken again: most calls of a platform are these.
local node, lifetime, limit, surplus = ARGV[1], tonumber(ARGV[2]), tonumber(ARGV[3]), ARGV[4]
local leases, revived = {}, {}
local retaken, recorded, running = false, false, nil

local function last_generation() return tonumber(redis.call('GET', KEYS[3]) or '0') end

-- Answers the generation under which it goes on.
local function revive(participant, generation)
    revived[participant] = true
    return math.max(generation + 1, now, last_generation() + 1)
end

local function take_again(participant, generation, set, credential, id)
    local since = generation
    if not leases[participant] then
        -- Revived and swept again, it may have an older one than was swept: what it was told never came.
        local found = redis.call('HMGET', KEYS[2], 'swept:' .. participant, 'former:' .. participant)
        local swept = math.max(tonumber(found[1] or '0'), tonumber(found[2] or '0'))
        if swept >= generation then generation = revive(participant, swept) end
    end
    if generation > last_generation() then redis.call('SET', KEYS[3], text(generation), 'PX', DAY) end
    leases[participant] = {
        node = node, generation = generation, set = set, credential = credential, session = id, since = since
    }
end

local function renew(participant, generation, set, credential, id, start, is_recorded)
    local stored = redis.call('HGET', KEYS[1], participant)
    local lease = stored and cjson.decode(stored) or nil
    leases[participant] = lease
    if lease and lease.generation > generation then
        -- Revived already, by a call whose answer never came: told again.
        if lease.node ~= node or lease.since > generation then return end
        revived[participant] = true
    end
    retaken = retaken or not lease or lease.generation < generation or not is_live(lease)
    if not lease or lease.generation < generation then
        take_again(participant, generation, set, credential, id)
    elseif lease.told then
        lease.generation, lease.told = revive(participant, lease.generation), nil
        redis.call('SET', KEYS[3], text(lease.generation), 'PX', DAY)
    end
    leases[participant].expires = now + lifetime
    running = running or session(id, start)
    recorded = recorded or is_recorded == '1' and running == id
    put(participant, leases[participant])
end

-- A failover may have forgotten claims for which room was found: the newest sets beyond the limit have to go.
-- Who was taken for dead and lives is as old as before.
local function end_surplus()
    local first, order = {}, {}
    for _, lease in pairs(leases) do
        if is_live(lease) and not lease.code and lease.set ~= '' then
            if not first[lease.set] then order[#order + 1] = lease.set end
            first[lease.set] = math.min(first[lease.set] or lease.since, lease.since)
        end
    end
    table.sort(order, function(a, b)
        if first[a] ~= first[b] then return first[a] < first[b] end
        return a < b
    end)
    for i = limit + 1, #order do
        for participant, lease in pairs(leases) do
            if lease.set == order[i] and is_live(lease) and not lease.code then
                lease.code, lease.words = surplus, ''
                put(participant, lease)
            end
        end
    end
end

for i = 5, #ARGV, 7 do renew(ARGV[i], tonumber(ARGV[i + 1]), unpack(ARGV, i + 2, i + 6)) end
if recorded then redis.call('HSET', KEYS[2], 'recorded', '1') end
if retaken then
    leases = all()
    end_surplus()
    redis.call('HDEL', KEYS[2], 'idle')
end

local answers = {}
for i = 5, #ARGV, 7 do
    local lease = leases[ARGV[i]]
    if revived[ARGV[i]] and not lease.code then
        answers[#answers + 1] = { 'revived', text(lease.generation) }
    elseif lease.generation > tonumber(ARGV[i + 1]) and not revived[ARGV[i]] then
        answers[#answers + 1] = { 'lost', lease.node, text(lease.generation) }
    elseif lease.code then
        answers[#answers + 1] = { 'end', lease.code, lease.words }
    else
        answers[#answers + 1] = { 'ok' }
    end
end
return answers
