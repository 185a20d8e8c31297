/// A moment of civil time: nanoseconds since 1970-01-01 UTC. For sender reports, tokens and events; never for timers.
@frozen
public struct WallTime: Hashable, Comparable, Codable, Sendable, BitwiseCopyable {
    /// Without leap seconds, as Unix counts; years 1678 to 2261.
    public var nanosecondsSince1970: Int64

    /// From what the clock says.
    @inlinable public init(nanosecondsSince1970: Int64) { self.nanosecondsSince1970 = nanosecondsSince1970 }
    /// Saturates where nanoseconds end: certificates and tokens may name the year 9999.
    @inlinable
    public init(secondsSince1970: Int64) {
        let (nanoseconds, overflows) = secondsSince1970.multipliedReportingOverflow(by: 1_000_000_000)
        nanosecondsSince1970 = overflows ? (secondsSince1970 < 0 ? .min : .max) : nanoseconds
    }

    /// Whole seconds, the fraction cut off.
    @inlinable public var secondsSince1970: Int64 { nanosecondsSince1970 / 1_000_000_000 }
    /// Whole milliseconds, the fraction cut off.
    @inlinable public var millisecondsSince1970: Int64 { nanosecondsSince1970 / 1_000_000 }

    /// The 64-bit NTP timestamp of RTCP sender reports (RFC 3550 §4): seconds since 1900 in the high, fraction in the low half.
    public var ntp: UInt64 {
        let seconds = UInt64(bitPattern: nanosecondsSince1970 / 1_000_000_000 + 2_208_988_800)
        let fraction = (UInt64(nanosecondsSince1970 % 1_000_000_000) << 32) / 1_000_000_000
        return seconds << 32 | fraction
    }

    /// Whether `left` is earlier.
    @inlinable public static func < (left: WallTime, right: WallTime) -> Bool {
        left.nanosecondsSince1970 < right.nanosecondsSince1970
    }
    /// The moment `right` later; saturates where nanoseconds end.
    @inlinable
    public static func + (left: WallTime, right: Duration) -> WallTime {
        WallTime(nanosecondsSince1970: left.nanosecondsSince1970.addingSaturating(right.nanoseconds))
    }
    /// From `right` to `left`; saturates.
    @inlinable
    public static func - (left: WallTime, right: WallTime) -> Duration {
        .nanoseconds(left.nanosecondsSince1970.subtractingSaturating(right.nanosecondsSince1970))
    }

    /// Whether a wait that began at `start` is over. Where the clock was set back by more than it lasts meanwhile, it is: else it
    /// would last for as long as that.
    public func isPast(_ span: Duration, since start: WallTime) -> Bool {
        let passed = self - start
        return passed >= span || passed < .zero - span
    }
}

extension WallTime {
    /// Parses `20261121T021436Z`, from 1970 to 2261 (nanoseconds of later years do not fit); nil for anything else, and for days
    /// that the calendar does not have. A leap second is the first one of the next minute.
    public init?(iso8601Basic text: some StringProtocol) {
        let bytes = Array(text.utf8)
        guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z"),
            let time = Self.moment(bytes[0..<8], bytes[9..<15])
        else { return nil }
        self = time
    }

    /// Parses `2026-11-21T02:14:36.125Z` (RFC 3339 §5.6) in UTC, with up to nine digits of a fraction or none; nil as above.
    public init?(rfc3339 text: [UInt8]) {
        guard text.count >= 20, text.last == UInt8(ascii: "Z"), Self.isEvery(text, [4, 7], "-"),
            Self.isEvery(text, [13, 16], ":"), text[10] == UInt8(ascii: "T"),
            let time = Self.moment(text[0..<4] + text[5..<7] + text[8..<10], text[11..<13] + text[14..<16] + text[17..<19])
        else { return nil }
        guard text.count > 20 else {
            self = time
            return
        }
        let digits = text[20..<(text.count - 1)]
        guard text[19] == UInt8(ascii: "."), (1...9).contains(digits.count), var fraction = Self.number(digits)
        else { return nil }
        for _ in digits.count..<9 { fraction *= 10 }
        self = time + .nanoseconds(fraction)
    }

    /// Parses `Sat, 21 Nov 2026 02:14:36 GMT` (RFC 9110 §5.6.7), not its obsolete forms; nil as above.
    public init?(httpDate text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 29, let index = CivilTime.months.firstIndex(where: { bytes[8..<11].elementsEqual($0.utf8) })
        else { return nil }
        let month = [UInt8(ascii: "0") + UInt8((index + 1) / 10), UInt8(ascii: "0") + UInt8((index + 1) % 10)]
        let date: ArraySlice<UInt8> = bytes[12..<16] + month + bytes[5..<7]
        let clock: ArraySlice<UInt8> = bytes[17..<19] + bytes[20..<22] + bytes[23..<25]
        // Written again it has the day's name and the marks between.
        guard let time = Self.moment(date, clock), CivilTime(time).httpDate == text else { return nil }
        self = time
    }

    private static func isEvery(_ text: [UInt8], _ places: [Int], _ mark: Unicode.Scalar) -> Bool {
        places.allSatisfy { text[$0] == UInt8(ascii: mark) }
    }

    /// - Parameters:
    ///   - date: eight digits.
    ///   - clock: six digits.
    private static func moment(_ date: ArraySlice<UInt8>, _ clock: ArraySlice<UInt8>) -> WallTime? {
        guard let year = number(date.prefix(4)), let month = number(date.dropFirst(4).prefix(2)),
            let day = number(date.suffix(2)), let hour = number(clock.prefix(2)),
            let minute = number(clock.dropFirst(2).prefix(2)),
            let second = number(clock.suffix(2)),
            (1970...2261).contains(year), (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        let midnight = WallTime(secondsSince1970: CivilTime.daysSince1970(year, month, day) * 86_400)
        guard CivilTime(midnight).day == day else { return nil }
        return midnight + .seconds(hour * 3_600 + minute * 60 + second)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        digits.reduce(0 as Int64?) { value, digit in
            guard let value, (0x30...0x39).contains(digit) else { return nil }
            return value * 10 + Int64(digit - 0x30)
        }
    }
}
