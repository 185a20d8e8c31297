import JSON
import Settings
import Store
import Testing
import Wire

@testable import Node

@Suite("Where encoders and browsers are sent")
struct PublicURLsTests {
    private static let endpoints = StageEndpoints(
        events: "wss://e", whip: "https://ingest.example:8443/whip", rtmp: "rtmp://r/app/", rtmps: "rtmps://r/app/")

    /// With both pages on.
    private static var configuration: StagedoorConfiguration {
        var configuration = StagedoorConfiguration()
        configuration.watch.publishPage = true
        var router = RouterSettings()
        router.driver = .embedded
        configuration.routers = ["embedded": router]
        return configuration
    }

    @Test
    func `the pages stand where WHIP does`() {
        let urls = PublicURLs(Self.endpoints, Self.configuration, hasMedia: true).json
        #expect(urls["publish"] == "https://ingest.example:8443/publish")
        #expect(urls["watch"] == "https://ingest.example:8443/watch/")
        #expect(urls["whip"] == "https://ingest.example:8443/whip")
        #expect(urls["rtmp"] == "rtmp://r/app/" && urls["rtmps"] == "rtmps://r/app/")
        #expect(urls["events"] == nil, "nothing is served there")
    }

    @Test(arguments: [
        ("https://h/ingest/whip", "https://h/ingest/publish"), ("https://h/a/b/whip", "https://h/a/b/publish"),
        ("https://h/", "https://h/publish"), ("https://h", "https://h/publish"), ("https://h/own-name", "https://h/publish"),
    ])
    func `with the path that a proxy puts before it`(_ whip: String, _ publish: String) {
        let endpoints = StageEndpoints(events: "", whip: whip, rtmp: "", rtmps: "")
        #expect(PublicURLs(endpoints, Self.configuration, hasMedia: true).json["publish"]?.string == publish)
    }

    @Test
    func `what is off is absent`() {
        let none = PublicURLs(Self.endpoints, Self.configuration, hasMedia: false).json
        #expect(none.object?.names == ["rtmp", "rtmps"])
        var configuration = StagedoorConfiguration()
        configuration.routers = [:]
        #expect(PublicURLs(Self.endpoints, configuration, hasMedia: true).json.object?.names == ["whip", "rtmp", "rtmps"])
    }

    @Test(arguments: ["", "whip", "https:", "https://", "/whip"])
    func `an endpoint that is no URL has no pages beside it`(_ whip: String) {
        let endpoints = StageEndpoints(events: "", whip: whip, rtmp: "", rtmps: "")
        let urls = PublicURLs(endpoints, Self.configuration, hasMedia: true).json
        #expect(urls["publish"] == nil && urls["watch"] == nil)
    }

    /// The certificate has an address without brackets.
    @Test(arguments: [("[2001:db8::2]", "2001:db8::2"), ("2001:db8::2", "2001:db8::2"), ("host.example", "host.example")])
    func `the name of this machine is the host without brackets`(_ host: String, _ name: String) {
        var settings = AdvertiseSettings()
        settings.host = host
        #expect(settings.publicName == name)
    }

    @Test(arguments: [
        ("", "[::]:8080", "127.0.0.1"), ("", "[2001:db8::1]:8080", "[2001:db8::1]"), ("", "192.0.2.1:8080", "192.0.2.1"),
        ("2001:db8::7", "[::]:8080", "[2001:db8::7]"), ("192.0.2.7", "[::]:8080", "192.0.2.7"),
        ("[2001:db8::7]", "[::]:8080", "[2001:db8::7]"), ("ingest.example", "[::]:8080", "ingest.example"),
    ])
    func `the host is written as URLs have it`(_ advertised: String, _ bound: String, _ host: String) throws {
        var configuration = StagedoorConfiguration()
        configuration.advertise.host = advertised
        #expect(StageEndpoints.host(configuration, try #require(SocketAddress(bound))) == host)
    }

    /// A container's encoders are told so, by `advertise.addresses` alone.
    @Test(arguments: [("", "[::]:8080", "192.0.2.9"), ("", "10.0.0.1:8080", "10.0.0.1"), ("a.example", "[::]:8080", "a.example")])
    func `a listener on all addresses is reached at the first that is advertised`(
        _ named: String, _ bound: String, _ host: String
    ) throws {
        var configuration = StagedoorConfiguration()
        configuration.advertise.host = named
        configuration.advertise.addresses = [.interfaces, .address(try #require(IPAddress("192.0.2.9"))), .name("b.example")]
        #expect(StageEndpoints.host(configuration, try #require(SocketAddress(bound))) == host)
    }
}
