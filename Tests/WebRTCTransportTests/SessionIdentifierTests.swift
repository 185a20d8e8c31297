import Testing
import Wire

@testable import WebRTCTransport

@Suite("Session identifiers")
struct SessionIdentifierTests {
    private let token = Secret("token")
    private let key = Secret("key")
    private let id = SessionIdentifier.make(node: "n1", generation: 7, for: Secret("token"), key: Secret("key"))

    private func isSealed(_ bytes: some Sequence<UInt8>) -> Bool {
        SessionIdentifier.isSealed(String(decoding: Array(bytes), as: UTF8.self), for: token, key: key)
    }

    @Test func `tell where a session is, and that it is its token's`() {
        let home = SessionIdentifier.Home(of: id)
        #expect(home?.node == "n1" && home?.generation == 7)
        #expect(id.utf8.count <= SessionIdentifier.maximumLength)
        #expect(isSealed(id.utf8))
        #expect(!SessionIdentifier.isSealed(id, for: Secret("Token"), key: key))
        #expect(!SessionIdentifier.isSealed(id, for: token, key: Secret("another")))
        #expect(id != SessionIdentifier.make(node: "n1", generation: 7, for: token, key: key), "nobody guesses it")
    }

    @Test func `of another text have another seal`() {
        let bytes = Array(id.utf8)
        for index in bytes.indices {
            var changed = bytes
            changed[index] ^= 1
            #expect(!isSealed(changed), "byte \(index)")
            #expect(!isSealed(bytes[..<index]), "\(index) bytes")
        }
        #expect(!isSealed(bytes + [0x30]))
    }

    private static let digits = String(repeating: "0a", count: 24)
    static let nobodys = [
        "", "n1", "n1-7", "n1-7-", "-7-\(digits)", "n1-256-\(digits)", "n1--1-\(digits)", "n1-x-\(digits)", "n_1-7-\(digits)",
        "n/1-7-\(digits)", "é1-7-\(digits)", "n1-7-\(digits)0", "n1-7-\(digits.dropLast())", "n1-7-\(digits.dropLast())A",
        "n1-7-\(digits)-0", "n1.7.\(digits)",
    ]

    @Test(arguments: nobodys)
    func `that no node has made lead nowhere`(id: String) { #expect(SessionIdentifier.Home(of: id) == nil) }

    @Test func `of any node and process lead there`() {
        #expect(SessionIdentifier.Home(of: "Z9-255-\(Self.digits)")?.generation == 255)
        #expect(SessionIdentifier.Home(of: "Z9-0-\(Self.digits)")?.node == "Z9")
    }
}
