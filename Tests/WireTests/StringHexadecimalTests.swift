import Testing
import Wire

@Suite("Hexadecimal digits")
struct StringHexadecimalTests {
    @Test(
        arguments: [
            ([], ""), ([0], "00"), ([9], "09"), ([10], "0a"), ([0x5F], "5f"), ([0xFF, 0, 0xA9], "ff00a9"),
        ] as [([UInt8], String)])
    func `two for each byte, lower case`(bytes: [UInt8], text: String) {
        #expect(String(hexadecimal: bytes) == text)
    }

    @Test
    func `every byte reads back`() {
        for byte in UInt8.min...UInt8.max {
            let text = String(hexadecimal: CollectionOfOne(byte))
            #expect(text.utf8.count == 2 && UInt8(text, radix: 16) == byte)
        }
    }
}
