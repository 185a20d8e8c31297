import Wire

/// `20250102T030405Z`: ISO 8601's basic form, as AWS signatures use it.
enum BasicTimestamp {
    static func parse(_ text: String) -> WallTime? {
        let bytes = Array(text.utf8)
        guard bytes.count == 16, bytes[8] == UInt8(ascii: "T"), bytes[15] == UInt8(ascii: "Z"),
            let year = number(bytes[0..<4]), let month = number(bytes[4..<6]), let day = number(bytes[6..<8]),
            let hour = number(bytes[9..<11]), let minute = number(bytes[11..<13]), let second = number(bytes[13..<15]),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        let seconds = daysSince1970(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second
        return WallTime(secondsSince1970: seconds)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> Int64? {
        digits.reduce(0 as Int64?) { value, digit in
            guard let value, (48...57).contains(digit) else { return nil }
            return value * 10 + Int64(digit - 48)
        }
    }

    /// Days of the proleptic Gregorian calendar, counted from March so that the leap day is a year's last.
    private static func daysSince1970(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        let y = month <= 2 ? year - 1 : year
        let era = (y >= 0 ? y : y - 399) / 400
        let yearOfEra = y - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }
}
