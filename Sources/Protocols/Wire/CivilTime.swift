/// A moment as the Gregorian calendar in UTC shows it, for texts: RFC 3339 in logs and answers, RFC 9110 in `Date`.
///
///     CivilTime(WallTime(secondsSince1970: 0)).rfc3339        // "1970-01-01T00:00:00.000Z"
public struct CivilTime: Hashable, Sendable {
    /// Of the common era.
    public var year: Int
    /// 1 to 12.
    public var month: Int
    /// 1 to 31.
    public var day: Int
    /// 0 to 23.
    public var hour: Int
    /// 0 to 59.
    public var minute: Int
    /// 0 to 59.
    public var second: Int
    /// Of the second, 0 to 999,999,999.
    public var nanosecond: Int
    /// 0 is Sunday.
    public var weekday: Int

    /// What a calendar and a clock in UTC show at `time`.
    public init(_ time: WallTime) {
        let (days, secondOfDay) = Self.floorDivide(Self.floorDivide(time.nanosecondsSince1970, 1_000_000_000).quotient, 86_400)
        nanosecond = Int(Self.floorDivide(time.nanosecondsSince1970, 1_000_000_000).remainder)
        (hour, minute, second) = (Int(secondOfDay / 3600), Int(secondOfDay / 60 % 60), Int(secondOfDay % 60))
        weekday = Int(Self.floorDivide(days + 4, 7).remainder)  // 1970-01-01 was a Thursday
        (year, month, day) = Self.date(daysSince1970: Int(days))
    }

    /// Counts in eras of 400 years that begin on 1 March, so that a leap day is the last day of its year.
    private static func date(daysSince1970: Int) -> (year: Int, month: Int, day: Int) {
        let (era, dayOfEra) = floorDivide(Int64(daysSince1970 + 719_468), 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let monthFromMarch = (5 * dayOfYear + 2) / 153
        let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (Int(year), Int(month), Int(dayOfYear - (153 * monthFromMarch + 2) / 5 + 1))
    }

    /// The inverse of `date(daysSince1970:)`, for any year.
    static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let (era, yearOfEra) = floorDivide(month <= 2 ? year - 1 : year, 400)
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    private static func floorDivide(_ value: Int64, _ divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = value.quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension CivilTime {
    /// `2026-11-21T02:14:36.125Z` (RFC 3339 §5.6), milliseconds always three digits.
    public var rfc3339: String {
        var text: [UInt8] = []
        writeRFC3339(into: &text)
        return String(decoding: text, as: UTF8.self)
    }

    /// Appends the text of `rfc3339`.
    public func writeRFC3339(into text: inout [UInt8]) {
        Self.write(year, digits: 4, "-", into: &text)
        Self.write(month, digits: 2, "-", into: &text)
        Self.write(day, digits: 2, "T", into: &text)
        Self.write(hour, digits: 2, ":", into: &text)
        Self.write(minute, digits: 2, ":", into: &text)
        Self.write(second, digits: 2, ".", into: &text)
        Self.write(nanosecond / 1_000_000, digits: 3, "Z", into: &text)
    }

    private static func write(_ value: Int, digits: Int, _ mark: Unicode.Scalar, into text: inout [UInt8]) {
        var unit = 1
        for _ in 1..<digits { unit *= 10 }
        while unit > 0 {
            text.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / unit % 10))
            unit /= 10
        }
        text.append(UInt8(ascii: mark))
    }

    /// `20261121T021436Z`: the basic form of ISO 8601, as AWS signatures use it; reads back as a `WallTime`.
    public var iso8601Basic: String {
        "\(padded(year, 4))\(padded(month))\(padded(day))T\(padded(hour))\(padded(minute))\(padded(second))Z"
    }

    /// `Sat, 21 Nov 2026 02:14:36 GMT` (RFC 9110 §5.6.7).
    public var httpDate: String {
        "\(Self.weekdays[weekday]), \(padded(day)) \(Self.months[month - 1]) \(padded(year, 4)) "
            + "\(padded(hour)):\(padded(minute)):\(padded(second)) GMT"
    }

    private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

    private func padded(_ value: Int, _ width: Int = 2) -> String {
        let digits = String(value)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
