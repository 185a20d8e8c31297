-- Ends the expired leases of a node that has died. ARGV: node, then of each lease of which the history has been told participant,
-- generation: those are dropped.
--
-- The others are answered, and again until somebody says that they were told: an answer may be lost. The session remembers what was
-- dropped: if the node lives after all, it learns at its renewal that the history says they left.
-- Answers how many of its leases are not dropped yet, then of each expired one participant, generation, session.
local leases = all()
local is_running = has_session()
local told = {}
for i = 2, #ARGV, 2 do told[ARGV[i]] = ARGV[i + 1] end

local left, answers = 0, {}
for participant, lease in pairs(leases) do
    if lease.node == ARGV[1] then
        if is_live(lease) then
            left = left + 1
        elseif told[participant] == text(lease.generation) then
            redis.call('HDEL', KEYS[1], participant)
            leases[participant] = nil
            if is_running then redis.call('HSET', KEYS[2], 'swept:' .. participant, text(lease.generation)) end
        else
            left = left + 1
            answers[#answers + 1] = { participant, text(lease.generation), lease.session }
            if not lease.told then
                lease.told = true
                put(participant, lease)
            end
        end
    end
end
note_idle(leases)
table.insert(answers, 1, left)
return answers
