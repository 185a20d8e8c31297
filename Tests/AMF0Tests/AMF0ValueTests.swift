import AMF0
import Testing
import Wire

private func decode(_ bytes: [UInt8]) throws(AMF0Error) -> [AMF0Value] { try AMF0Decoder.values(in: bytes.span.bytes) }

@Suite("AMF 0 values")
struct AMF0ValueTests {
    struct Case: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var bytes: [UInt8]
        var value: AMF0Value
        /// Where a message may end within its object: before the first member, and behind each.
        var wholePrefixes: Set<Int>

        init(_ name: String, _ bytes: [UInt8], _ value: AMF0Value, wholePrefixes: Set<Int> = []) {
            (testDescription, self.bytes, self.value, self.wholePrefixes) = (name, bytes, value, wholePrefixes)
        }
    }

    static let cases = [
        Case("number", [0x00, 0x40, 0x08, 0, 0, 0, 0, 0, 0], .number(3)),
        Case("boolean", [0x01, 0x01], .boolean(true)),
        Case("string", [0x02, 0x00, 0x02, 0x68, 0x69], .string("hi")),
        Case("empty string", [0x02, 0x00, 0x00], .string("")),
        Case("null", [0x05], .null),
        Case("undefined", [0x06], .undefined),
        Case("object", [0x03, 0, 1, 0x61, 0x01, 0x00, 0, 0, 9], .object(["a": false]), wholePrefixes: [1, 6]),
        Case("empty object", [0x03, 0, 0, 9], .object([:]), wholePrefixes: [1]),
        Case("empty name", [0x03, 0, 0, 0x05, 0, 0, 9], .object(["": .null]), wholePrefixes: [1, 4]),
        Case("ECMA array", [0x08, 0, 0, 0, 1, 0, 1, 0x61, 0x05, 0, 0, 9], .ecmaArray(["a": .null]), wholePrefixes: [5, 9]),
        Case("strict array", [0x0A, 0, 0, 0, 2, 0x05, 0x06], .strictArray([.null, .undefined])),
        Case("date", [0x0B, 0x40, 0x08, 0, 0, 0, 0, 0, 0, 0, 0], .date(milliseconds: 3)),
        Case("XML document", [0x0F, 0, 0, 0, 1, 0x78], .xmlDocument("x")),
        Case(
            "typed object", [0x10, 0, 1, 0x43, 0, 1, 0x61, 0x05, 0, 0, 9], .typedObject(className: "C", ["a": .null]),
            wholePrefixes: [4, 8]),
    ]

    @Test(arguments: cases)
    func `reads`(_ testCase: Case) throws {
        #expect(try decode(testCase.bytes) == [testCase.value])
    }

    @Test(arguments: cases)
    func `writes`(_ testCase: Case) {
        #expect([testCase.value].amf0Bytes == testCase.bytes)
    }

    @Test(arguments: cases)
    func `rejects every prefix that ends within a value`(_ testCase: Case) {
        for count in 1..<testCase.bytes.count where !testCase.wholePrefixes.contains(count) {
            let prefix = Array(testCase.bytes.prefix(count))
            #expect(throws: AMF0Error.truncated) { try decode(prefix) }
        }
    }

    @Test func `writes a string of 65,536 bytes as a long one`() throws {
        let long = AMF0Value.string(String(repeating: "x", count: 65_536))
        let bytes = [long].amf0Bytes
        #expect(bytes.prefix(5) == [0x0C, 0x00, 0x01, 0x00, 0x00])
        #expect(try decode(bytes) == [long])
    }

    @Test func `takes an ECMA array whose count lies`() throws {
        let tooFew: [UInt8] = [0x08, 0, 0, 0, 0, 0, 1, 0x61, 0x05, 0, 0, 9]
        let tooMany: [UInt8] = [0x08, 0xFF, 0xFF, 0xFF, 0xFF, 0, 1, 0x61, 0x05, 0, 0, 9]
        for bytes in [tooFew, tooMany] {
            #expect(try decode(bytes) == [.ecmaArray(["a": .null])])
        }
    }

    @Test(
        arguments: [
            .object(["a": .null]), .ecmaArray(["a": .null]), .typedObject(className: "C", ["a": .null]),
        ] as [AMF0Value])
    func `takes an object that ends with the message`(_ value: AMF0Value) throws {
        #expect(try decode([value].amf0Bytes.dropLast(3)) == [value])
    }

    @Test func `finds a member whatever the case of its name`() {
        let object: AMF0Object = ["tcurl": "rtmp://host/app"]
        #expect(object["tcUrl"] == nil)
        #expect(object.value(ignoringCaseOf: "tcUrl") == "rtmp://host/app")
    }

    @Test func `repairs text that is not UTF-8`() throws {
        #expect(try decode([0x02, 0, 2, 0xFF, 0x61]) == [.string("\u{FFFD}a")])
    }

    @Test(arguments: [
        (String(repeating: "a", count: 300), 300), (String(repeating: "\u{301}", count: 128), 256),
        (String(repeating: "\u{301}", count: 129), 256), (String(repeating: "a", count: 256) + "\u{1F600}", 256),
        (String(repeating: "a", count: 253) + "\u{1F600}", 253), (String(repeating: "a", count: 252) + "\u{1F600}b", 256),
    ])
    func `keeps whole scalars of 256 bytes of long text that is not ASCII`(_ text: String, _ keptByteCount: Int) throws {
        let length = UInt16(text.utf8.count)
        let values = try decode([0x02, UInt8(length >> 8), UInt8(length & 0xFF)] + text.utf8)
        #expect(values.first?.string?.utf8.count == keptByteCount)
    }
}

@Suite("AMF 0 limits")
struct AMF0LimitTests {
    private func nested(_ depth: Int) -> [UInt8] { (0..<depth).flatMap { _ in [0x03, 0, 1, 0x61] as [UInt8] } + [0x05] }

    @Test func `stops at the seventeenth level of 50,000 nested objects`() {
        let bytes = nested(50_000)
        #expect(throws: AMF0Error.tooDeep) { try decode(bytes) }
    }

    @Test func `takes sixteen levels`() throws {
        let bytes = nested(15) + (0..<15).flatMap { _ in [0, 0, 9] as [UInt8] }
        #expect(try decode(bytes).count == 1)
    }

    @Test(arguments: [0x0A, 0x08] as [UInt8])
    func `stops at 50,000 nested arrays`(_ marker: UInt8) {
        let level: [UInt8] = marker == 0x0A ? [0x0A, 0, 0, 0, 1] : [0x08, 0, 0, 0, 1, 0, 1, 0x61]
        let bytes = Array(repeatElement(level, count: 50_000).joined())
        #expect(throws: AMF0Error.tooDeep) { try decode(bytes) }
    }

    @Test func `does not believe a declared count of 4,294,967,295`() {
        #expect(throws: AMF0Error.truncated) { try decode([0x0A, 0xFF, 0xFF, 0xFF, 0xFF, 0x05]) }
    }

    @Test func `takes no more than 4,096 values`() throws {
        let limit = AMF0Decoder.maximumValueCount
        #expect(try decode([UInt8](repeating: 0x05, count: limit)).count == limit)
        let tooMany = [UInt8](repeating: 0x05, count: limit + 1)
        #expect(throws: AMF0Error.tooManyValues) { try decode(tooMany) }
        let array: [UInt8] = [0x0A, 0, 0, 0x10, 0x00] + [UInt8](repeating: 0x05, count: 4_096)
        #expect(throws: AMF0Error.tooManyValues) { try decode(array) }
    }

    @Test(arguments: [0x04, 0x07, 0x09, 0x0E, 0x12, 0xFF] as [UInt8])
    func `refuses marker`(_ marker: UInt8) {
        #expect(throws: AMF0Error.unsupportedMarker(marker)) { try decode([marker, 0, 0, 0, 0]) }
    }

    @Test func `reads up to a value in AMF 3, and refuses one inside a value by name`() throws {
        #expect(try decode([0x05, 0x01, 0x01, 0x11, 0x0A, 0x0B, 0x01]) == [.null, .boolean(true)])
        #expect(throws: AMF0Error.amf3) { try decode([0x03, 0, 1, 0x61, 0x11, 0x01]) }
    }
}
