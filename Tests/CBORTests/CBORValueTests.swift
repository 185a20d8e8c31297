import Testing
import Wire

@testable import CBOR

@Suite("CBOR (RFC 8949)")
struct CBORValueTests {
    struct Example: CustomTestStringConvertible, Sendable {
        var hex: String
        var value: CBORValue
        /// Written the same way.
        var isShortest = true
        var testDescription: String { hex }

        init(_ hex: String, _ value: CBORValue, isShortest: Bool = true) {
            (self.hex, self.value, self.isShortest) = (hex, value, isShortest)
        }

        var bytes: [UInt8] { [UInt8](hexadecimal: hex) ?? [] }
    }

    /// RFC 8949, appendix A, as far as it is read here.
    static let examples = [
        Example("00", .integer(0)), Example("17", .integer(23)), Example("1818", .integer(24)), Example("1903e8", .integer(1000)),
        Example("1a000f4240", .integer(1_000_000)), Example("1b000000e8d4a51000", .integer(1_000_000_000_000)),
        Example("20", .integer(-1)), Example("3863", .integer(-100)), Example("3903e7", .integer(-1000)),
        Example("f90000", .double(0), isShortest: false), Example("f93c00", .double(1), isShortest: false),
        Example("fb3ff199999999999a", .double(1.1)), Example("fa47c35000", .double(100_000), isShortest: false),
        Example("f97c00", .double(.infinity), isShortest: false), Example("f4", .bool(false)), Example("f5", .bool(true)),
        Example("f6", .null), Example("f7", .null, isShortest: false),
        Example("c11a514b67b0", .tagged(1, .integer(1_363_896_240))),
        Example("c1fb41d452d9ec200000", .tagged(1, .double(1_363_896_240.5))), Example("40", .bytes([])),
        Example("4401020304", .bytes([1, 2, 3, 4])), Example("60", .text("")), Example("6449455446", .text("IETF")),
        Example("62c3bc", .text("ü")), Example("80", .array([])),
        Example(
            "8301820203820405", .array([.integer(1), .array([.integer(2), .integer(3)]), .array([.integer(4), .integer(5)])])),
        Example("a0", .map([])),
        Example("a26161016162820203", .map([.init("a", .integer(1)), .init("b", .array([.integer(2), .integer(3)]))])),
        Example("5f42010243030405ff", .bytes([1, 2, 3, 4, 5]), isShortest: false),
        Example("7f657374726561646d696e67ff", .text("streaming"), isShortest: false),
        Example(
            "9f018202039f0405ffff",
            .array([.integer(1), .array([.integer(2), .integer(3)]), .array([.integer(4), .integer(5)])]), isShortest: false),
        Example(
            "bf61610161629f0203ffff", .map([.init("a", .integer(1)), .init("b", .array([.integer(2), .integer(3)]))]),
            isShortest: false),
    ]

    @Test(arguments: examples)
    func `the RFC's examples read as they say, and are written so`(example: Example) throws {
        #expect(try CBORValue(parsing: example.bytes) == example.value)
        if example.isShortest { #expect(example.value.serialized == example.bytes) }
        #expect(try CBORValue(parsing: example.value.serialized) == example.value)
    }

    @Test(arguments: examples)
    func `every beginning of one is cut short`(example: Example) {
        for count in 0..<example.bytes.count {
            #expect(throws: CBORError.truncated) { try CBORValue(parsing: Array(example.bytes.prefix(count))) }
        }
    }

    @Test(arguments: [
        ("0000", CBORError.trailingBytes), ("1c", .malformed), ("ff", .malformed), ("f8ff", .malformed), ("5f00ff", .malformed),
        ("1bffffffffffffffff", .outOfRange), ("3bffffffffffffffff", .outOfRange), ("61ff", .notText), ("a10001", .notText),
        ("9bffffffffffffffff", .truncated), ("5b7fffffffffffffff", .truncated), ("5bffffffffffffffff", .truncated),
    ])
    func `what is no item, or none that fits, is refused`(hex: String, error: CBORError) {
        #expect(throws: error) { try CBORValue(parsing: [UInt8](hexadecimal: hex) ?? []) }
    }

    @Test func `depth and number of items are bounded`() {
        #expect(throws: CBORError.tooComplex) { try CBORValue(parsing: [UInt8](repeating: 0x81, count: 100_000)) }
        #expect(throws: CBORError.tooComplex) { try CBORValue(parsing: [0x9F] + [UInt8](repeating: 0, count: 100_000) + [0xFF]) }
        #expect(throws: CBORError.tooComplex) {
            try CBORValue(parsing: [0x5F] + [UInt8](repeating: 0x40, count: 100_000) + [0xFF])
        }
    }
}
