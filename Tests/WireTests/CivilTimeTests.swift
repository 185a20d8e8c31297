import Testing
import Wire

@Suite("Civil time")
struct CivilTimeTests {
    /// Seconds since 1970, as RFC 3339, as RFC 9110, and as AWS signatures write it.
    static let cases: [(Int64, String, String, String)] = [
        (0, "1970-01-01T00:00:00.000Z", "Thu, 01 Jan 1970 00:00:00 GMT", "19700101T000000Z"),
        (784_111_777, "1994-11-06T08:49:37.000Z", "Sun, 06 Nov 1994 08:49:37 GMT", "19941106T084937Z"),
        (951_827_696, "2000-02-29T12:34:56.000Z", "Tue, 29 Feb 2000 12:34:56 GMT", "20000229T123456Z"),
        (1_767_323_045, "2026-01-02T03:04:05.000Z", "Fri, 02 Jan 2026 03:04:05 GMT", "20260102T030405Z"),
        (1_795_227_276, "2026-11-21T02:14:36.000Z", "Sat, 21 Nov 2026 02:14:36 GMT", "20261121T021436Z"),
        (4_107_542_399, "2100-02-28T23:59:59.000Z", "Sun, 28 Feb 2100 23:59:59 GMT", "21000228T235959Z"),
        (4_107_542_400, "2100-03-01T00:00:00.000Z", "Mon, 01 Mar 2100 00:00:00 GMT", "21000301T000000Z"),
        (9_214_646_399, "2261-12-31T23:59:59.000Z", "Tue, 31 Dec 2261 23:59:59 GMT", "22611231T235959Z"),
    ]

    @Test(arguments: cases)
    func `is written three ways and read back`(_ seconds: Int64, _ rfc3339: String, _ httpDate: String, _ basic: String) {
        let time = WallTime(secondsSince1970: seconds)
        #expect(CivilTime(time).rfc3339 == rfc3339)
        #expect(CivilTime(time).httpDate == httpDate)
        #expect(CivilTime(time).iso8601Basic == basic)
        #expect(WallTime(iso8601Basic: basic) == time)
        #expect(WallTime(rfc3339: Array(rfc3339.utf8)) == time)
        #expect(WallTime(httpDate: httpDate) == time)
    }

    @Test(arguments: [
        "", "Sun, 21 Nov 2026 02:14:36 GMT", "Sat, 21 nov 2026 02:14:36 GMT", "Sat, 31 Nov 2026 02:14:36 GMT",
        "Sat, 21 Nov 2026 02:14:36 UTC", "Sat, 21 Nov 2026 02-14-36 GMT", "Saturday, 21-Nov-26 02:14:36 GMT",
        "Sat Nov 21 02:14:36 2026", "Sat, 21 Nov 2026 2:14:36 GMT ", "Sat, 21 Nov 2026 02:14:36 GMT ",
    ])
    func `what is no date of RFC 9110 is none`(_ text: String) { #expect(WallTime(httpDate: text) == nil) }

    @Test(arguments: [("", 0), (".5", 500_000_000), (".000000001", 1), (".591", 591_000_000)] as [(String, Int64)])
    func `fractions of a second are read`(_ fraction: String, _ nanoseconds: Int64) {
        let time = WallTime(rfc3339: Array("2026-01-02T03:04:05\(fraction)Z".utf8))
        #expect(time == WallTime(iso8601Basic: "20260102T030405Z").map { $0 + .nanoseconds(nanoseconds) })
    }

    @Test(arguments: [
        "", "2026-01-02T03:04:05", "2026-01-02T03:04:05.Z", "2026-01-02T03:04:05.1234567890Z", "2026-01-02T03:04:05,5Z",
        "2026-01-02 03:04:05Z", "2026-02-30T03:04:05Z", "2026-01-02T03:04:05.5+", "2026-01-02T24:04:05Z", "20260102T030405ZZZZZ",
    ])
    func `what is no time of RFC 3339 in UTC is none`(_ text: String) { #expect(WallTime(rfc3339: Array(text.utf8)) == nil) }

    @Test func `every day of two eras reads back`() {
        for day in 0..<Int64(106_000) {
            let time = WallTime(secondsSince1970: day * 86_400 + 43_210)
            #expect(WallTime(iso8601Basic: CivilTime(time).iso8601Basic) == time)
        }
    }

    @Test(arguments: [9_223_372_037, 253_402_300_799, .max] as [Int64])
    func `seconds beyond 2262 are its April`(_ seconds: Int64) {
        #expect(CivilTime(WallTime(secondsSince1970: seconds)).rfc3339 == "2262-04-11T23:47:16.854Z")
        #expect(CivilTime(WallTime(secondsSince1970: -seconds)).rfc3339 == "1677-09-21T00:12:43.145Z")
    }

    @Test func `times before 1970 are shown too`() {
        #expect(CivilTime(WallTime(nanosecondsSince1970: -1)).rfc3339 == "1969-12-31T23:59:59.999Z")
        #expect(CivilTime(WallTime(secondsSince1970: -1)).httpDate == "Wed, 31 Dec 1969 23:59:59 GMT")
    }

    @Test func `a leap second is the first second of the next minute`() {
        #expect(WallTime(iso8601Basic: "20161231T235960Z") == WallTime(secondsSince1970: 1_483_228_800))
    }

    @Test(arguments: [
        "", "20260102T030405", "20260102T030405z", "20260102 030405Z", "2026-01-02T03:04:05Z", "20260002T030405Z",
        "20261302T030405Z", "20260100T030405Z", "20260132T030405Z", "20260229T030405Z", "20260431T030405Z", "20260102T240405Z",
        "20260102T036005Z", "20260102T030461Z", "+2260102T030405Z", "2026010éT03040Z",
        // Their nanoseconds do not fit 64 bits.
        "00000101T000000Z", "16770921T001243Z", "19691231T235959Z", "22620412T000000Z", "23000101T000000Z", "99991231T235959Z",
    ])
    func `refuses`(_ text: String) { #expect(WallTime(iso8601Basic: text) == nil) }
}
