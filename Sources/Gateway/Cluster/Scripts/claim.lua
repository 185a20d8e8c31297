-- Takes the lease of a participant, if it is free or may be taken and the stage has room.
--
-- ARGV: participant, node, set, credential, lease (ms), limit of sets, generation that may be taken over (0: none), session id
-- in case one begins, lowest generation to give, grace, '1' when the lease's owner was asked and is silent, generation whose
-- owner is dead (0: none).
-- Grace: '' none; 'expired': an expired lease may be live; 'unknown': an absent one may be too (the server forgot).
-- Answers granted (generation, session id, start, and whose lease was there, its own one too: node, generation, session), held
-- (node, generation, ms until it ends), full, or wait.
local participant, node, set, credential = ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local grace = ARGV[10]
local leases = all()
local old = leases[participant]

-- Another lease than our own former one: has it to be respected?
local function is_respected(lease)
    if lease.node == node then return false end
    if text(lease.generation) == ARGV[7] then return false end
    -- The same encoder need not wait for the end of a lease that nobody will renew; others do.
    if text(lease.generation) == ARGV[12] and lease.credential == credential then return false end
    if is_live(lease) then return true end
    -- The same encoder, whose former node does not answer, need not wait until all nodes are back.
    return grace ~= '' and not (ARGV[11] == '1' and lease.credential == credential)
end

if old and is_respected(old) then
    return { 'held', old.node, text(old.generation), text(math.max(0, old.expires - now)) }
end
if not old and grace == 'unknown' then return { 'wait' } end

local sets, count = { [set] = true, [''] = true }, set == '' and 0 or 1
for other, lease in pairs(leases) do
    if other ~= participant and not sets[lease.set] and (is_live(lease) or grace ~= '') then
        sets[lease.set] = true
        count = count + 1
    end
end
if set ~= '' and count > tonumber(ARGV[6]) then return { 'full' } end

local last = tonumber(redis.call('GET', KEYS[3]) or '0')
if old and old.generation > last then last = old.generation end
local generation = math.max(last + 1, now, tonumber(ARGV[9]))
redis.call('SET', KEYS[3], text(generation), 'PX', DAY)
local id, start = session(ARGV[8], text(now))
redis.call('HDEL', KEYS[2], 'idle')
-- Its holder may not hear of it before the new one has gone again: then it goes on as another one.
if old and old.node ~= node then redis.call('HSET', KEYS[2], 'swept:' .. participant, text(old.generation)) end
put(participant, {
    node = node, generation = generation, expires = now + tonumber(ARGV[5]), set = set, credential = credential, session = id,
    since = old and is_live(old) and old.since or generation
})
if not old then return { 'granted', text(generation), id, start, '', '0', '' } end
return { 'granted', text(generation), id, start, old.node, text(old.generation), old.session }
