-- Notes that leases have to end, which their owners read at the next renewal at the latest.
--
-- ARGV: participant ('' for all of the stage), code, words. Answers of each lease participant, node, generation.
local answers = {}
for participant, lease in pairs(all()) do
    if ARGV[1] == '' or ARGV[1] == participant then
        if not lease.code then
            lease.code, lease.words = ARGV[2], ARGV[3]
            put(participant, lease)
        end
        answers[#answers + 1] = { participant, lease.node, text(lease.generation) }
    end
end
return answers
