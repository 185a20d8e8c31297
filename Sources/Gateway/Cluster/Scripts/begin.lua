-- Begins a session for somebody who was refused, unless one runs. ARGV: its id. Answers as look does.
local id, start = session(ARGV[1], text(now))
local leases = all()
note_idle(leases)
local answers = { id, start, redis.call('HGET', KEYS[2], 'recorded') or '0' }
for participant, lease in pairs(leases) do
    if is_live(lease) and lease.set ~= '' then answers[#answers + 1] = participant end
end
return answers
