-- Points of metrics of one stage. Repeated, it changes nothing.
--
-- KEYS: the hour's points, the stage's series. ARGV: the write's own name, the points as JSON, lifetime in s, their newest minute, the
-- oldest minute that is kept, the series.
redis.call('HSET', KEYS[1], ARGV[1], ARGV[2])
redis.call('EXPIRE', KEYS[1], ARGV[3])
for index = 6, #ARGV do redis.call('ZADD', KEYS[2], ARGV[4], ARGV[index]) end
redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[5])
redis.call('EXPIRE', KEYS[2], ARGV[3])
return 1
