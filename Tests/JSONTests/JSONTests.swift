import JSON
import TestSupport
import Testing

@Suite("JSON text (RFC 8259)")
struct JSONTests {
    static let both: [(String, JSONValue)] = [
        ("null", nil), ("true", true), ("false", false), ("0", 0), ("-1", -1),
        ("9223372036854775807", .integer(.max)), ("-9223372036854775808", .integer(.min)),
        ("1.5", 1.5), ("-0.0", -0.0), ("1e+20", .number(1e20)), ("5e-324", .number(.leastNonzeroMagnitude)),
        (#""""#, ""), (#""a\"b\\c\n\r\t\u0000\u001f\u007f""#, "a\"b\\c\n\r\t\u{0}\u{1F}\u{7F}"),
        (#""é€😀""#, "é€😀"), ("[]", []), ("{}", [:]), ("[1,[2,[]],{}]", [1, [2, []], [:]]),
        (#"{"b":1,"a":{"c":null}}"#, ["b": 1, "a": ["c": nil]]), ("{\"\u{E9}\":1,\"e\u{301}\":2}", ["\u{E9}": 1, "e\u{301}": 2]),
    ]

    @Test(arguments: both)
    func `reads and writes`(_ text: String, _ value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
        #expect(String(decoding: value.serialized(), as: UTF8.self) == text)
    }

    @Test(arguments: [
        (" [ 1 , 2 ]\r\n\t", JSONValue.array([1, 2])), (#""\u00e9\u20AC\uD83D\uDE00\/\b\f""#, "é€😀/\u{8}\u{C}"),
        ("12345678901234567890", .number(1.2345678901234567e19)), ("1E2", 100.0), ("-0", .number(-0.0)),
    ])
    func `reads other spellings`(_ text: String, _ value: JSONValue) throws {
        #expect(try JSONValue(parsing: text) == value)
    }

    @Test(arguments: [
        "", " ", "[", "{", "[1", "[1,", #"{"a""#, #"{"a":"#, #"{"a":1"#, #"{"a":1,"#, #"""#, #""\"#, #""\u12"#, "tru", "-", "1.",
        "1e",
        #""\ud800"#, #""\ud800\"#,
    ])
    func `a cut text is truncated`(_ text: String) {
        #expect(throws: JSONError.truncated) { try JSONValue(parsing: text) }
    }

    @Test(arguments: [
        ("01", JSONError.trailingBytes(offset: 1)), ("1 2", .trailingBytes(offset: 2)),
        ("[1,]", .unexpectedByte(0x5D, offset: 3)),
        ("{,}", .unexpectedByte(0x2C, offset: 1)), ("{\"a\":1,}", .unexpectedByte(0x7D, offset: 7)),
        ("nul1", .unexpectedByte(0x31, offset: 3)),
        ("+1", .unexpectedByte(0x2B, offset: 0)), (".5", .unexpectedByte(0x2E, offset: 0)),
        ("1.x", .unexpectedByte(0x78, offset: 2)),
        ("NaN", .unexpectedByte(0x4E, offset: 0)), ("'a'", .unexpectedByte(0x27, offset: 0)),
        ("\"\n\"", .unexpectedByte(0x0A, offset: 1)),
        ("/**/1", .unexpectedByte(0x2F, offset: 0)), (#""\x""#, .invalidEscape(offset: 1)),
        (#""\ud800x""#, .invalidEscape(offset: 1)),
        (#""\udc00""#, .invalidEscape(offset: 1)), (#""\ud800\ud800""#, .invalidEscape(offset: 1)),
        (#""\u12g4""#, .invalidEscape(offset: 1)),
        ("1e999", .numberOutOfRange(offset: 0)), (#"{"a":1,"a":2}"#, .duplicateName("a")),
        (#"{"a":1,"\u0061":2}"#, .duplicateName("a")),
        ("\u{FEFF}1", .unexpectedByte(0xEF, offset: 0)),
    ])
    func `refuses`(_ text: String, _ error: JSONError) {
        #expect(throws: error) { try JSONValue(parsing: text) }
    }

    @Test func `refuses broken UTF-8`() {
        for bytes: [UInt8] in [
            [0x22, 0xC3, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xFF, 0x22],
        ] {
            #expect(throws: JSONError.invalidUTF8(offset: 1)) { try JSONValue(parsing: bytes) }
        }
    }

    @Test func `holds its limits`() throws {
        let deep = { (count: Int) in String(repeating: "[", count: count) + String(repeating: "]", count: count) }
        _ = try JSONValue(parsing: deep(32))
        #expect(throws: JSONError.tooDeep) { try JSONValue(parsing: deep(33)) }
        #expect(throws: JSONError.tooDeep) { try JSONValue(parsing: deep(100_000)) }
        #expect(throws: JSONError.tooLong) { try JSONValue(parsing: "12345", limits: JSONLimits(maximumLength: 4)) }
        #expect(throws: JSONError.tooManyValues) { try JSONValue(parsing: "[1,2,3]", limits: JSONLimits(maximumValues: 3)) }
    }

    @Test func `mutated texts never trap`() {
        let seed = Array(#"{"a":[1,-2.5e3,true,null,"x\u00e9\ud83d\ude00"],"b":{"c":"d"}}"#.utf8)
        var generator = SplitMix64(seed: 7)
        for _ in 0..<20_000 {
            var text = seed
            for _ in 0..<Int.random(in: 1...4, using: &generator) {
                text[Int.random(in: 0..<text.count, using: &generator)] = UInt8.random(in: 0...255, using: &generator)
            }
            if let value = try? JSONValue(parsing: text) { #expect((try? JSONValue(parsing: value.serialized())) == value) }
        }
    }
}

@Suite("JSON views")
struct JSONViewTests {
    let value: JSONValue = ["name": "demo", "count": 3, "rate": 2.0, "half": 0.5, "tags": ["a"], "on": true, "none": nil]

    @Test func `typed views answer nil for another type`() {
        #expect(value["name"]?.string == "demo")
        #expect(value["count"]?.integer == 3)
        #expect(value["count"]?.double == 3)
        #expect(value["rate"]?.integer == 2)
        #expect(value["half"]?.integer == nil)
        #expect(value["tags"]?[0]?.string == "a")
        #expect(value["tags"]?[1] == nil)
        #expect(value["on"]?.bool == true)
        #expect(value["none"]?.isNull == true)
        #expect(value["absent"] == nil)
        #expect(value["name"]?["x"] == nil)
    }

    @Test func `members keep their order and can be replaced`() {
        var object: JSONObject = ["b": 1, "a": 2]
        object["b"] = 3
        object["c"] = 4
        object["a"] = nil
        #expect(JSONValue.object(object).description == #"{"b":3,"c":4}"#)
    }

    @Test func `names are compared by their bytes`() {
        let object: JSONObject = ["\u{212A}id": 1]  // KELVIN SIGN, which Unicode calls equivalent to K
        #expect(object["Kid"] == nil)
    }
}
