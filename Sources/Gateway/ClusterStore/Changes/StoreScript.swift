import Redis

/// The scripts that change and read configuration; docs/cluster-schema.md has their contracts.
enum StoreScript {
    /// Changes records of one slot if all of them still are what the change was based on.
    ///
    /// KEYS: the records, then the set of the slot's stage members. ARGV for each record: expected version (`0` for none), JSON
    /// (empty: delete), moment of expiry in ms since 1970 (empty: never), whether the set lists it (`1`).
    /// Answers `{1, version, …}` or, with nothing changed, `{0, index, version, JSON, …}` of the records that are others.
    ///
    /// A new record begins at the clock's milliseconds, so that a record deleted and made again never has an old version.
    static let commit = RedisScript(
        """
        local count = #KEYS - 1
        local stale = {0}
        for i = 1, count do
          local found = redis.call('HMGET', KEYS[i], 'v', 'd')
          if (found[1] or '0') ~= ARGV[4 * i - 3] then
            stale[#stale + 1] = i
            stale[#stale + 1] = found[1] or '0'
            stale[#stale + 1] = found[2] or ''
          end
        end
        if #stale > 1 then return stale end
        local time = redis.call('TIME')
        local now = time[1] * 1000 + math.floor(time[2] / 1000)
        local done = {1}
        for i = 1, count do
          local expected, body, expiry, isMember = ARGV[4 * i - 3], ARGV[4 * i - 2], ARGV[4 * i - 1], ARGV[4 * i]
          local version = 0
          if body == '' then
            redis.call('DEL', KEYS[i])
            if isMember == '1' then redis.call('SREM', KEYS[count + 1], KEYS[i]) end
          else
            version = expected == '0' and now or expected + 1
            redis.call('HSET', KEYS[i], 'v', string.format('%.0f', version), 'd', body)
            if expiry == '' then redis.call('PERSIST', KEYS[i]) else redis.call('PEXPIREAT', KEYS[i], expiry) end
            if isMember == '1' then redis.call('SADD', KEYS[count + 1], KEYS[i]) end
          end
          done[#done + 1] = string.format('%.0f', version)
        end
        return done
        """)

    /// A stage with its placements and revocations. KEYS: the stage, the set of its members.
    /// Answers `{key, version, JSON, …}` of what there is; members that expired leave the set.
    static let stage = RedisScript(
        """
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
        """)

    /// Entries of the stream after one that was read; false when that one is gone, or the newest known, and others with it.
    ///
    /// KEYS: the stream. ARGV: the last entry read, how many at most, the newest entry known.
    static let follow = RedisScript(
        """
        for _, id in ipairs({ARGV[1], ARGV[3]}) do
          if #redis.call('XRANGE', KEYS[1], id, id) == 0 then return false end
        end
        local found = redis.call('XREAD', 'COUNT', ARGV[2], 'STREAMS', KEYS[1], ARGV[1])
        return found and found[1][2] or {}
        """)

    /// Adds an entry and wakes who listens. KEYS: the stream. ARGV: its length at most, channel, then fields and values.
    static let announce = RedisScript(
        """
        local id = redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[1], '*', unpack(ARGV, 3))
        redis.call('PUBLISH', ARGV[2], id)
        return id
        """)
}
