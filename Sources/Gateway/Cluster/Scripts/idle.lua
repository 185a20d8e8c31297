-- Ends the session of a stage on which nobody has published for long enough. ARGV: how long (ms), id of the session of whose end the
-- history has been told ('': of none).
--
-- What has ended is answered to whoever asks until somebody says that it was told: an answer may be lost. A new session may run
-- meanwhile.
-- Answers live; none (there is no session); wait (ms); or ended (session id), then of each expired lease that nobody swept
-- participant, generation, session.
local kept = redis.call('HGET', KEYS[2], 'over')
if kept then
    local over = cjson.decode(kept)
    if over[2] ~= ARGV[2] then return over end
    redis.call('HDEL', KEYS[2], 'over')
end

local leases = all()
if any_live(leases) then return { 'live' } end
local found = redis.call('HMGET', KEYS[2], 'id', 'idle', 'recorded')
if not found[1] then return { 'none' } end
if not found[2] then
    note_idle(leases)
    return { 'wait', ARGV[1] }
end
local left = tonumber(found[2]) + tonumber(ARGV[1]) - now
if left > 0 then return { 'wait', text(left) } end
-- It has gone on since its end was told, or the server forgot that it had ended: this end is told too, to who asks anew.
if found[1] == ARGV[2] then return { 'wait', '0' } end
local answers, former = { 'ended', found[1] }, {}
local flat = redis.call('HGETALL', KEYS[2])
for i = 1, #flat, 2 do
    local participant = string.match(flat[i], '^swept:(.*)$')
    if participant then former[participant] = flat[i + 1] end
end
for participant, lease in pairs(leases) do
    former[participant] = text(lease.generation)
    answers[#answers + 1] = { participant, text(lease.generation), lease.session }
end
redis.call('DEL', KEYS[1], KEYS[2])
redis.call('HSET', KEYS[2], 'over', cjson.encode(answers))
-- A node that nobody has heard of since may hold some of them: it learns at its renewal that the history says they left.
for participant, generation in pairs(former) do redis.call('HSET', KEYS[2], 'former:' .. participant, generation) end
if found[3] then redis.call('HSET', KEYS[2], 'former', found[1]) end
redis.call('PEXPIRE', KEYS[2], DAY)
return answers
