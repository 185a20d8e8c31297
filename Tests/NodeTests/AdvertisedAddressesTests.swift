import Settings
import Testing
import Wire

@testable import Node

@Suite
struct AdvertisedAddressesTests {
    @Test
    func `addresses are listed in the operator's order, each once`() throws {
        let (first, second) = (try #require(IPAddress("192.0.2.7")), try #require(IPAddress("192.0.2.8")))
        #expect(
            try AdvertisedAddresses.list([.address(second), .address(first), .address(second)], bound: .anyV4)
                == [second, first])
        #expect(try AdvertisedAddresses.list([], bound: first) == [first], "what the port is bound to")
        #expect(throws: StartupError.self) { try AdvertisedAddresses.list([.name("nothing.invalid")], bound: .anyV4) }
    }
}
