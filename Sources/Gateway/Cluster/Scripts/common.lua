-- What every script of a stage begins with. KEYS: the stage's leases, its running session, its last generation.
--
-- A lease is a field of the first hash, named by its participant, or by > and a node for all who watch through that node: JSON
-- with node, generation, expires (ms), set (what counts as one publisher; '' does not count), credential (its hash), session,
-- since (the generation under which it came first), told (true: whoever sweeps has been told that it is over) and, when it has to
-- end, code and words. The session remembers as swept:participant up to which generation the history may say that it left. Beside it
-- lies as over the one before it, until the history is known to have been told of its end (idle); what that one remembered, and held
-- in the end, as former:participant; and as former its id, if the history knows it.
-- Time is the server's, so that no two nodes' clocks are ever compared. Numbers stay below 14 digits until the year 5138: cjson
-- writes that many.
local HOUR, DAY = 3600000, 86400000

local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1000 + math.floor(tonumber(clock[2]) / 1000)

local function text(number) return string.format('%.0f', number) end

local function all()
    local leases, flat = {}, redis.call('HGETALL', KEYS[1])
    for i = 1, #flat, 2 do leases[flat[i]] = cjson.decode(flat[i + 1]) end
    return leases
end

-- What nobody renews goes with its key: an hour is time enough to sweep it.
local function put(participant, lease)
    redis.call('HSET', KEYS[1], participant, cjson.encode(lease))
    redis.call('PEXPIRE', KEYS[1], HOUR)
end

local function is_live(lease) return now < lease.expires end

local function any_live(leases)
    for _, lease in pairs(leases) do
        if is_live(lease) then return true end
    end
    return false
end

-- Begins the session if there is none; returns its id and the time of its start.
local function session(id, start)
    if redis.call('HSETNX', KEYS[2], 'id', id) == 1 then
        redis.call('HSET', KEYS[2], 'start', start)
        if redis.call('HGET', KEYS[2], 'former') == id then redis.call('HSET', KEYS[2], 'recorded', '1') end
    end
    redis.call('PEXPIRE', KEYS[2], DAY)
    local found = redis.call('HMGET', KEYS[2], 'id', 'start')
    return found[1], found[2]
end

local function has_session() return redis.call('HEXISTS', KEYS[2], 'id') == 1 end

-- The stage is idle from now on, unless somebody publishes.
local function note_idle(leases)
    if not any_live(leases) and has_session() then redis.call('HSETNX', KEYS[2], 'idle', text(now)) end
end
