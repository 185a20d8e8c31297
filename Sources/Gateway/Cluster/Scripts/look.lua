-- The stage as it is: id and start of its session ('' without one), '1' if the history knows it, then who publishes.
local found = redis.call('HMGET', KEYS[2], 'id', 'start', 'recorded')
local answers = { found[1] or '', found[2] or '0', found[3] or '0' }
for participant, lease in pairs(all()) do
    if is_live(lease) and lease.set ~= '' then answers[#answers + 1] = participant end
end
return answers
