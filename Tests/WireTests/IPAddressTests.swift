import Testing
import Wire

@Suite("Addresses")
struct IPAddressTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("::1", "::1"), ("2001:DB8:0:0:1:0:0:1", "2001:db8::1:0:0:1"), ("::", "::"),
        ("::ffff:192.0.2.1", "192.0.2.1"), ("fe80::1", "fe80::1"), ("1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"),
    ])
    func `parses and prints canonically`(_ text: String, _ canonical: String) {
        #expect(IPAddress(text)?.description == canonical)
    }

    @Test(arguments: ["", "1.2.3", "1.2.3.4.5", "1.2.3.256", "1.2.3.+4", ":::", "1::2::3", "1:2:3:4:5:6:7", "g::1", "12345::"])
    func `refuses`(_ text: String) {
        #expect(IPAddress(text) == nil)
    }

    @Test func `prints every byte of IPv4 in decimal, without zeros before it`() {
        for byte in UInt32.zero...255 {
            #expect(IPAddress.v4(byte << 24 | byte << 16 | byte << 8 | byte).description == "\(byte).\(byte).\(byte).\(byte)")
        }
        #expect(SocketAddress(.v4(0xFFFF_FFFF), port: 65_535).description == "255.255.255.255:65535")
        #expect(SocketAddress(.anyV4, port: 0).description == "0.0.0.0:0")
    }

    @Test func `socket addresses need brackets around IPv6`() {
        #expect(SocketAddress("127.0.0.1:80") == SocketAddress(.loopback, port: 80))
        #expect(SocketAddress("[::1]:80")?.description == "[::1]:80")
        #expect(SocketAddress("::1:80") == nil)
    }
}
