import HTTP
import JSON
import OpenSSL
import Store
import Testing
import Wire

@testable import ControlPlane

@Suite("Tags, on every type of resource")
struct TagsTests {
    /// A type of resource: how it is made and shown, and by which member of the answers.
    struct Kind: CustomTestStringConvertible {
        var member: String
        var make: String
        var show: String
        var input: JSONObject = [:]
        var testDescription: String { member }
    }

    static let kinds = [
        Kind(member: "stage", make: "CreateStage", show: "GetStage"),
        Kind(
            member: "ingestConfiguration", make: "CreateIngestConfiguration", show: "GetIngestConfiguration",
            input: ["ingestProtocol": "RTMPS"]),
        Kind(member: "publicKey", make: "ImportPublicKey", show: "GetPublicKey"),
        Kind(
            member: "storageConfiguration", make: "CreateStorageConfiguration", show: "GetStorageConfiguration",
            input: ["s3": ["bucketName": "recordings"]]),
    ]

    /// One resource, made with the tag `made`.
    private struct Tagged {
        let bench: APIBench
        let kind: Kind
        let arn: String
        private var path: String { "/tags/" + PercentEncoding.encode(arn) }

        init(_ kind: Kind) throws {
            let bench = try APIBench()
            var input = kind.input
            input["tags"] = ["made": "so"]
            if kind.member == "publicKey" {
                let pem = try ES384PrivateKey.generate().publicKey.pem
                input["publicKeyMaterial"] = .string(String(decoding: pem, as: UTF8.self))
            }
            let made = try bench.call(kind.make, input).output[kind.member]
            let arn = try #require(made?["arn"]?.string)
            (self.bench, self.kind, self.arn) = (bench, kind, arn)
        }

        func set(_ tags: JSONObject) throws -> HTTPStatus {
            try bench.send(.post, path, body: JSONValue.object(["tags": .object(tags)]).serialized()).status
        }

        func remove(_ key: String) throws -> HTTPStatus { try bench.send(.delete, path + "?tagKeys=" + key).status }

        /// As ListTagsForResource and the resource's own answer have them, which is the same.
        func tags() throws -> JSONValue? {
            let listed = try JSONValue(parsing: bench.send(.get, path).body)["tags"]
            let shown = try bench.call(kind.show, ["arn": .string(arn)]).output[kind.member]?["tags"]
            #expect(listed == shown)
            return listed
        }
    }

    @Test(arguments: kinds)
    func `are set, changed and removed, and the resource shows them`(_ kind: Kind) throws {
        let resource = try Tagged(kind)
        #expect(try resource.tags() == ["made": "so"])
        #expect(try resource.set(["added": "", "made": "over"]) == .ok)
        #expect(try resource.tags() == ["added": "", "made": "over"])
        #expect(try resource.remove("made") == .ok)
        #expect(try resource.remove("made") == .ok, "it is gone already")
        #expect(try resource.tags() == ["added": ""])
    }

    /// Each request is within the limit; what there would be after it is not.
    @Test(arguments: kinds)
    func `are fifty at most, with those that are there`(_ kind: Kind) throws {
        let resource = try Tagged(kind)
        #expect(try resource.set(JSONObject((1..<50).map { ("k\($0)", JSONValue.string("v")) })) == .ok)
        #expect(try resource.set(["one": "more"]) == .badRequest)
        #expect(try resource.tags()?.object?.count == 50)
        #expect(try resource.set(["made": "over"]) == .ok, "one that is there is changed")
    }
}
