-- The history knows the session. ARGV: its id.
if redis.call('HGET', KEYS[2], 'id') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[2], 'recorded', '1')
return 1
