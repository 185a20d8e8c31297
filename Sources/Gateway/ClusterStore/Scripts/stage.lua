-- A stage with its placements, revocations and replications. KEYS: the stage, the set of its members.
-- Answers {key, version, JSON, …} of what there is; members that expired leave the set.
local answer = {}
local function add(key)
    local found = redis.call('HMGET', key, 'v', 'd')
    if not found[1] then return false end
    answer[#answer + 1] = key
    answer[#answer + 1] = found[1]
    answer[#answer + 1] = found[2]
    return true
end
add(KEYS[1])
for _, key in ipairs(redis.call('SMEMBERS', KEYS[2])) do
    if not add(key) then redis.call('SREM', KEYS[2], key) end
end
return answer
