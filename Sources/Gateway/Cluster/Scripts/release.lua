-- Gives a lease back. ARGV: participant, generation. Answers 1 when it was this one, 0 when it was nobody's or another's.
local leases = all()
local lease = leases[ARGV[1]]
if not lease or text(lease.generation) ~= ARGV[2] then return 0 end
redis.call('HDEL', KEYS[1], ARGV[1])
leases[ARGV[1]] = nil
note_idle(leases)
return 1
