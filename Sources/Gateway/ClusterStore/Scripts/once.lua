-- What every write of history begins with. KEYS[1]: how far queues have come. ARGV[1], ARGV[2]: a node's queue, number there.
--
-- A write that is brought again has the outcome that it had; done remembers and gives it. Of one that others followed it is
-- forgotten: false.
local last = redis.call('HGET', KEYS[1], ARGV[1])
if last then
    local number, outcome = string.match(last, '^(%d+) (.*)$')
    if ARGV[2] == number then return outcome end
    if tonumber(ARGV[2]) < tonumber(number) then return false end
end
local function done(outcome, seconds)
    redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. outcome)
    redis.call('EXPIRE', KEYS[1], seconds)
    return outcome
end
