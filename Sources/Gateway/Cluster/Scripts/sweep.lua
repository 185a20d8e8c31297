-- Drops the expired leases of a node that has died. ARGV: node.
--
-- The session remembers them: if the node lives after all, it learns at its renewal that the history says they left.
-- Answers how many of its leases have yet to expire, then of each dropped one participant, generation, session.
local leases = all()
local has_session = redis.call('EXISTS', KEYS[2]) == 1
local left, answers = 0, {}
for participant, lease in pairs(leases) do
    if lease.node == ARGV[1] then
        if is_live(lease) then
            left = left + 1
        else
            redis.call('HDEL', KEYS[1], participant)
            leases[participant] = nil
            if has_session then redis.call('HSET', KEYS[2], 'swept:' .. participant, text(lease.generation)) end
            answers[#answers + 1] = { participant, text(lease.generation), lease.session }
        end
    end
end
note_idle(leases)
table.insert(answers, 1, left)
return answers
