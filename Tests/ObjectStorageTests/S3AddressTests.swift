import Settings
import Testing

@testable import ObjectStorage

@Suite("Addresses of objects in a store that speaks S3")
struct S3AddressTests {
    struct Case: Sendable {
        var endpoint: String
        var pathStyle = false
        var bucket = "recordings"
        var url: String
    }

    @Test(arguments: [
        Case(endpoint: "", url: "https://recordings.s3.eu-central-1.amazonaws.com/a/1.mp4"),
        Case(endpoint: "", pathStyle: true, url: "https://s3.eu-central-1.amazonaws.com/recordings/a/1.mp4"),
        // The certificate of *.s3… covers one label.
        Case(endpoint: "", bucket: "my.bucket", url: "https://s3.eu-central-1.amazonaws.com/my.bucket/a/1.mp4"),
        Case(endpoint: "http://store", bucket: "my.bucket", url: "http://my.bucket.store/a/1.mp4"),
        Case(endpoint: "https://Store.example:443/", url: "https://recordings.store.example/a/1.mp4"),
        Case(endpoint: "http://store:80", pathStyle: true, url: "http://store/recordings/a/1.mp4"),
        Case(endpoint: "http://store:9000/base/", pathStyle: true, url: "http://store:9000/base/recordings/a/1.mp4"),
        // An address has no names below it.
        Case(endpoint: "http://127.0.0.1:9000", url: "http://127.0.0.1:9000/recordings/a/1.mp4"),
        Case(endpoint: "http://[::1]:9000", url: "http://[::1]:9000/recordings/a/1.mp4"),
    ])
    func `the bucket is before the host or in the path`(_ expected: Case) throws {
        var settings = StorageSettings()
        (settings.endpoint, settings.pathStyle, settings.region) = (expected.endpoint, expected.pathStyle, "eu-central-1")
        let address = try #require(S3Address(settings, bucket: expected.bucket))
        #expect(address.origin + address.path(ofKey: "a/1.mp4") == expected.url)
        #expect(address.origin.hasSuffix("://\(address.host)"))
    }

    @Test func `keys are percent-encoded once`() throws {
        let address = try #require(S3Address(StorageSettings(), bucket: "abc"))
        #expect(address.path(ofKey: "a b/+ü.mp4") == "/a%20b/%2B%C3%BC.mp4")
    }

    @Test(arguments: ["store", "ftp://store", "https://", "https:///path"]) func `what is no URL has none`(_ endpoint: String) {
        var settings = StorageSettings()
        settings.endpoint = endpoint
        #expect(S3Address(settings, bucket: "abc") == nil)
    }
}
