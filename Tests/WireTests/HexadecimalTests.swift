import Testing
import Wire

@Suite("Hexadecimal digits (RFC 4648 §8)")
struct HexadecimalTests {
    static let cases: [([UInt8], String)] = [
        ([], ""), ([0], "00"), ([9], "09"), ([10], "0a"), ([0x5F], "5f"), ([0xFF, 0, 0xA9], "ff00a9"),
    ]

    @Test(arguments: cases)
    func `two for each byte, read in either case`(bytes: [UInt8], text: String) {
        #expect(String(hexadecimal: bytes) == text)
        #expect([UInt8](hexadecimal: text) == bytes)
        #expect(String(hexadecimal: bytes, isUppercase: true) == text.uppercased())
        #expect([UInt8](hexadecimal: text.uppercased()) == bytes)
    }

    @Test(arguments: ["0", "000", "0g", "g0", "+1", "-1", "0x", " 1", "1 ", "ａ0", "é", "00\n"])
    func `refuses`(_ text: String) { #expect([UInt8](hexadecimal: text) == nil) }

    @Test(arguments: [([], ""), ([0xAB], "AB"), ([0xAB, 0x0C, 0], "AB:0C:00")] as [([UInt8], String)])
    func `as fingerprints are written`(bytes: [UInt8], text: String) {
        #expect(String(hexadecimal: bytes, separator: ":", isUppercase: true) == text)
    }

    @Test
    func `every byte reads back`() {
        for byte in UInt8.min...UInt8.max {
            let text = String(hexadecimal: CollectionOfOne(byte))
            #expect(text.utf8.count == 2 && UInt8(text, radix: 16) == byte)
            #expect([UInt8](hexadecimal: text) == [byte])
        }
    }

    @Test
    func `every byte is a digit or none, as Swift has it`() {
        for byte in UInt8.min...UInt8.max {
            #expect(byte.hexadecimalValue.map(Int.init) == (byte < 0x80 ? Character(Unicode.Scalar(byte)).hexDigitValue : nil))
        }
    }

    @Test(
        arguments: [
            (4, UInt8(0), "00000000-0000-4000-8000-000000000000"), (8, 0xFF, "ffffffff-ffff-8fff-bfff-ffffffffffff"),
        ] as [(UInt8, UInt8, String)])
    func `UUIDs have their version and variant`(_ version: UInt8, _ byte: UInt8, _ text: String) {
        #expect(String(uuid: Array(repeating: byte, count: 16), version: version) == text)
    }
}
