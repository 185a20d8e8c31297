import Redis

/// The scripts that write and read history; docs/cluster-schema.md has their contracts.
///
/// Each write has the name of a node's queue and its number there: repeated, it changes nothing and gives the same answer.
/// A participant's record is JSON: `generation` of the publish that it tells of, `closed` (the highest generation that is over
/// for good), `connected`, `published`, `publishing`, and `about`, which scripts do not look into but for `firstJoinTime`.
enum HistoryScript {
    /// KEYS[1]: how far queues have come. ARGV[1], ARGV[2]: queue, number. `done` remembers and gives the outcome.
    private static let once = """
        local last = redis.call('HGET', KEYS[1], ARGV[1])
        if last then
          local number, outcome = string.match(last, '^(%d+) (.*)$')
          if ARGV[2] == number then return outcome end
          if tonumber(ARGV[2]) < tonumber(number) then return '' end
        end
        local function done(outcome, seconds)
          redis.call('HSET', KEYS[1], ARGV[1], ARGV[2] .. ' ' .. outcome)
          redis.call('EXPIRE', KEYS[1], seconds)
          return outcome
        end

        """

    /// KEYS[2]: participants of the session, KEYS[3]: the participant's events. ARGV[3], ARGV[4]: participant, lifetime in s.
    private static let ofParticipant = """
        local function load()
          local text = redis.call('HGET', KEYS[2], ARGV[3])
          return text and cjson.decode(text)
        end
        local function save(record)
          redis.call('HSET', KEYS[2], ARGV[3], cjson.encode(record))
          redis.call('EXPIRE', KEYS[2], ARGV[4])
        end
        local function append(event)
          redis.call('RPUSH', KEYS[3], event)
          redis.call('LTRIM', KEYS[3], -\(maximumEvents), -1)
          redis.call('EXPIRE', KEYS[3], ARGV[4])
        end
        local function isTooLate(record, generation)
          return record and generation > 0 and generation <= tonumber(record.closed)
        end

        """

    /// Events of a participant in one session, at most; beyond it the oldest are dropped.
    static let maximumEvents = 1_000

    /// A session begins, or its end is known.
    ///
    /// KEYS: forwarded, sessions, session, participants. ARGV: queue, number, session, start in µs, its place in the order,
    /// start in ns, end in ns (empty while it goes on), lifetime in s, µs before which the stage's sessions have expired.
    static let session = RedisScript(
        once + """
            if ARGV[4] ~= '' then
              redis.call('ZADD', KEYS[2], 'NX', ARGV[4], ARGV[3])
              redis.call('HSETNX', KEYS[3], 'start', ARGV[5])
            end
            redis.call('ZREMRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[8])
            if ARGV[6] ~= '' and redis.call('EXISTS', KEYS[3]) == 1 then
              redis.call('HSET', KEYS[3], 'end', ARGV[6])
              local prefix = string.gsub(KEYS[4], ':participants$', ':events:')
              for _, participant in ipairs(redis.call('HKEYS', KEYS[4])) do
                redis.call('EXPIRE', prefix .. participant, ARGV[7])
              end
              redis.call('EXPIRE', KEYS[4], ARGV[7])
            end
            redis.call('EXPIRE', KEYS[3], ARGV[7])
            redis.call('EXPIRE', KEYS[2], ARGV[7])
            return done('', ARGV[7])
            """)

    /// A participant as it is now. What an older generation says of it is dropped, as is what is said after it was closed.
    ///
    /// KEYS: forwarded, participants, events, known. ARGV: queue, number, participant, lifetime in s, generation (0: holds no
    /// lease), connected, published (`1`), what is about it as JSON, now in µs, µs before which known participants have expired.
    static let participant = RedisScript(
        once + ofParticipant + """
            local record, generation = load(), tonumber(ARGV[5])
            redis.call('ZADD', KEYS[4], ARGV[9], ARGV[3])
            redis.call('ZREMRANGEBYSCORE', KEYS[4], '-inf', '(' .. ARGV[10])
            redis.call('EXPIRE', KEYS[4], ARGV[4])
            if isTooLate(record, generation) then return done('', ARGV[4]) end
            if record and generation < tonumber(record.generation) then return done('', ARGV[4]) end
            local about = cjson.decode(ARGV[8])
            if record and record.about.firstJoinTime then about.firstJoinTime = record.about.firstJoinTime end
            record = record or {generation = '0', closed = '0', published = false, publishing = false}
            if generation > tonumber(record.generation) then record.publishing = false end
            record.generation, record.about = ARGV[5], about
            record.connected = ARGV[6] == '1'
            record.published = record.published or ARGV[7] == '1'
            if not record.connected then record.publishing = false end
            save(record)
            return done('', ARGV[4])
            """)

    /// An event. Answers `1` if it is one for the stream of all events, nothing if it came after its publish was closed.
    ///
    /// KEYS: forwarded, participants, events. ARGV: queue, number, participant, lifetime in s, generation, name, JSON (empty:
    /// for the stream only).
    static let event = RedisScript(
        once + ofParticipant + """
            local record, generation = load(), tonumber(ARGV[5])
            if isTooLate(record, generation) then return done('', ARGV[4]) end
            if ARGV[7] ~= '' then append(ARGV[7]) end
            if record and generation >= tonumber(record.generation) then
              if ARGV[6] == 'PUBLISH_STARTED' then record.publishing = true end
              if ARGV[6] == 'PUBLISH_STOPPED' or ARGV[6] == 'LEFT' then record.publishing = false end
              if ARGV[6] == 'LEFT' then record.connected = false end
              save(record)
            end
            return done('1', ARGV[4])
            """)

    /// A publish is over whoever held it. Answers the names of the events that follow and the user, separated by blanks.
    ///
    /// KEYS: forwarded, participants, events. ARGV: queue, number, participant, lifetime in s, generation, time in ns.
    static let closed = RedisScript(
        once + ofParticipant + """
            local record, generation = load(), tonumber(ARGV[5])
            if not record then return done('', ARGV[4]) end
            if generation > tonumber(record.closed) then record.closed = ARGV[5] end
            local names = {}
            if record.connected and tonumber(record.generation) <= generation then
              if record.publishing then names = {'PUBLISH_STOPPED', 'LEFT'} else names = {'LEFT'} end
              for _, name in ipairs(names) do
                append(cjson.encode({
                  name = name, time = ARGV[6], userId = record.about.userId, errorCode = '', generation = ARGV[5]}))
              end
              record.connected, record.publishing = false, false
            end
            save(record)
            if #names == 0 then return done('', ARGV[4]) end
            return done(table.concat(names, ',') .. ' ' .. record.about.userId, ARGV[4])
            """)

    /// Appends to the stream of all events, once. KEYS: the stream, how far queues have come in it.
    /// ARGV: queue, number, length at most, channel, the events as JSON.
    static let announce = RedisScript(
        """
        if tonumber(redis.call('HGET', KEYS[2], ARGV[1]) or '0') >= tonumber(ARGV[2]) then return 0 end
        for index = 5, #ARGV do redis.call('XADD', KEYS[1], 'MAXLEN', '~', ARGV[3], '*', 'e', ARGV[index]) end
        redis.call('HSET', KEYS[2], ARGV[1], ARGV[2])
        redis.call('PUBLISH', ARGV[4], '')
        return 1
        """)
}
