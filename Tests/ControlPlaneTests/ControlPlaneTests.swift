import EventLoop
import Foundation
import HTTP
import JSON
import OpenSSL
import Settings
import Store
import Testing
import Wire

@testable import ControlPlane

/// A control plane on its own loop and directory, driven by the test's thread.
final class APIBench {
    let loop: EventLoop
    let store: EmbeddedStore
    let leases: EmbeddedLeases
    let plane: ControlPlane
    let observers: StateObservers
    let path: String

    init(
        _ change: (inout ControlPlaneSettings) -> Void = { _ in },
        isWatching: @escaping @Sendable (StageParticipant) -> Bool = { _ in false }
    ) throws {
        path = NSTemporaryDirectory() + "/stagedoor-api-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        var settings = ControlPlaneSettings(
            names: ResourceName(),
            endpoints: StageEndpoints(events: "wss://e", whip: "http://w", rtmp: "rtmp://r", rtmps: "rtmps://r"),
            accessKeys: [.init(id: "AKIDEXAMPLE", secret: Secret("secret"))])
        settings.admin.auth = .none
        (settings.rates.resources, settings.rates.publicKeys, settings.rates.tags) = (1_000, 1_000, 1_000)
        change(&settings)
        var authority: TokenAuthority?
        let observers = StateObservers()
        var told = EmbeddedStore.Observers()
        told.onChange = observers.tell
        store = try EmbeddedStore(
            directory: path, seeding: { authority = try TokenAuthority(in: &$0, names: ResourceName()) }, observers: told)
        leases = EmbeddedLeases(store: store)
        loop = try EventLoop()
        var environment = ControlPlane.Environment(store: store, leases: leases, authority: try #require(authority))
        (environment.observers, environment.isWatching) = (observers, isWatching)
        environment.tryBucket = { bucket, reply in
            switch bucket {
            case "recordings": reply(.writable)
            case "locked": reply(.unwritable("the store answered 403 AccessDenied."))
            default: reply(.unknown)
            }
        }
        plane = try ControlPlane(loop: loop, settings: settings, environment)
        self.observers = observers
    }

    deinit {
        store.close()
        try? FileManager.default.removeItem(atPath: path)
    }

    func send(
        _ method: HTTPMethod, _ target: String, body: [UInt8] = [], headers: HTTPHeaders = ["Host": "127.0.0.1:8088"]
    ) throws -> HTTPResponse {
        let parsed = try #require(HTTPRequestTarget(target))
        let request = HTTPRequest(method: method, target: parsed, rawTarget: target, headers: headers, body: body)
        var answer: HTTPResponse?
        plane.handle(request) { answer = $0 }
        _ = loop.run(until: { answer != nil }, within: .seconds(60))
        return try #require(answer)
    }

    func call(_ operation: String, _ input: JSONObject = [:]) throws -> (status: HTTPStatus, type: String?, output: JSONValue) {
        let response = try send(.post, "/\(operation)", body: JSONValue.object(input).serialized())
        return (response.status, response.headers["x-amzn-ErrorType"], try JSONValue(parsing: response.body))
    }

    func makeStage() throws -> String {
        try #require(call("CreateStage", ["name": "s"]).output["stage"]?["arn"]?.string)
    }
}

@Suite("Control API")
struct ControlPlaneTests {
    @Test
    func `a stage lives from creation to deletion`() throws {
        let bench = try APIBench()
        let made = try bench.call(
            "CreateStage", ["name": "a_b-1", "tags": ["k": "v"], "participantTokenConfigurations": [[:], ["duration": 1]]])
        #expect(made.status == .ok)
        #expect(made.output["participantTokens"]?.array?.map { $0["duration"]?.integer } == [720, 1])
        let arn = try #require(made.output["stage"]?["arn"])
        #expect(made.output["stage"]?["endpoints"]?["whip"] == "http://w")
        #expect(try bench.call("GetStage", ["arn": arn]).output["stage"]?["name"] == "a_b-1")
        #expect(try bench.call("UpdateStage", ["arn": arn, "name": "new"]).output["stage"]?["name"] == "new")
        #expect(try bench.call("ListStages").output["stages"]?.array?.count == 1)
        #expect(try bench.call("DeleteStage", ["arn": arn]).output == [:])
        #expect(try bench.call("GetStage", ["arn": arn]).type == "ResourceNotFoundException")
        #expect(try bench.call("DeleteStage", ["arn": arn]).status == .notFound)
    }

    /// As IVS answers them: SDKs and tools read these members without looking whether they are there.
    @Test
    func `what is empty or off is told, not left out`() throws {
        let bench = try APIBench()
        let made = try bench.call("CreateStage")
        let arn = try #require(made.output["stage"]?["arn"])
        for answer in [made, try bench.call("GetStage", ["arn": arn]), try bench.call("UpdateStage", ["arn": arn])] {
            #expect(answer.output["stage"]?["name"] == "")
            let endpoints = answer.output["stage"]?["endpoints"]
            #expect(endpoints == ["events": "wss://e", "whip": "http://w", "rtmp": "rtmp://r", "rtmps": "rtmps://r"])
            let recording = try #require(answer.output["stage"]?["autoParticipantRecordingConfiguration"])
            #expect(recording["storageConfigurationArn"] == "" && recording["mediaTypes"] == ["AUDIO_VIDEO"])
            #expect(recording["thumbnailConfiguration"]?["recordingMode"] == "DISABLED")
            #expect(recording["hlsConfiguration"]?["targetSegmentDurationSeconds"] == 6)
            #expect(recording["recordingReconnectWindowSeconds"] == 0 && recording["recordParticipantReplicas"] == true)
            // What was answered may be sent back.
            let sent = try bench.call("UpdateStage", ["arn": arn, "autoParticipantRecordingConfiguration": recording])
            #expect(sent.status == .ok)
        }
        let listed = try bench.call("ListStages").output["stages"]?[0]
        #expect(listed?["name"] == "" && listed?["autoParticipantRecordingConfiguration"] == nil && listed?["endpoints"] == nil)
        let ingest = try bench.call("CreateIngestConfiguration", ["ingestProtocol": "rtmps"]).output["ingestConfiguration"]
        #expect(ingest?["ingestProtocol"] == "RTMPS" && ingest?["name"] == "" && ingest?["userId"] == "")
    }

    @Test
    func `a bucket is tried before it is taken, and there may be so many`() throws {
        let bench = try APIBench { $0.quotas.storageConfigurations = 1 }
        func create(_ bucket: String) throws -> (HTTPStatus, String?, String?) {
            let answer = try bench.call("CreateStorageConfiguration", ["s3": ["bucketName": .string(bucket)]])
            return (answer.status, answer.type, answer.output["exceptionMessage"]?.string)
        }
        #expect(try create("others").1 == "ValidationException")
        #expect(try create("others").2?.contains("names no bucket others") == true)
        #expect(try create("locked").1 == "ConflictException")
        #expect(try create("locked").2?.hasSuffix("403 AccessDenied.") == true)
        #expect(try create("UPPER").2 == "bucketName must be 3 to 63 of the characters a-z, 0-9, . and -.")
        #expect(try create("recordings").0 == .ok)
        #expect(try create("recordings").1 == "ServiceQuotaExceededException")
        #expect(try bench.call("ListStorageConfigurations").output["storageConfigurations"]?.array?.count == 1)
    }

    @Test
    func `a stage is recorded where its storage configuration says`() throws {
        let bench = try APIBench()
        let made = try bench.call("CreateStorageConfiguration", ["s3": ["bucketName": "recordings"]])
        let storage = try #require(made.output["storageConfiguration"]?["arn"])
        let recording: JSONValue = [
            "storageConfigurationArn": storage, "mediaTypes": [], "thumbnailConfiguration": ["storage": []],
        ]
        let stage = try #require(bench.call("CreateStage", ["autoParticipantRecordingConfiguration": recording]).output["stage"])
        let kept = try #require(stage["autoParticipantRecordingConfiguration"])
        #expect(kept["mediaTypes"] == ["AUDIO_VIDEO"] && kept["thumbnailConfiguration"]?["storage"] == ["SEQUENTIAL"])
        #expect(kept["storageConfigurationArn"] == storage)
        let unknown: JSONValue = ["storageConfigurationArn": .string("\(storage.string ?? "")x")]
        #expect(
            try bench.call("CreateStage", ["autoParticipantRecordingConfiguration": unknown]).type == "ValidationException")
        let arn = try #require(stage["arn"])
        #expect(
            try bench.call("UpdateStage", ["arn": arn, "autoParticipantRecordingConfiguration": unknown]).type
                == "ResourceNotFoundException")
        #expect(try bench.call("DeleteStorageConfiguration", ["arn": storage]).status == .ok)
        let shown = try bench.call("GetStage", ["arn": arn]).output["stage"]?["autoParticipantRecordingConfiguration"]
        #expect(shown == kept, "the stage goes on saying where it would be recorded")
    }

    @Test(arguments: [
        ("CreateParticipantToken", "capabilities", ["publish", "Subscribe"] as JSONValue),
        ("ListIngestConfigurations", "filterByState", "inactive"),
    ])
    func `enumerations are taken in any case`(_ operation: String, _ member: String, _ value: JSONValue) throws {
        let bench = try APIBench()
        var input: JSONObject = [member: value]
        if operation == "CreateParticipantToken" { input["stageArn"] = .string(try bench.makeStage()) }
        let answer = try bench.call(operation, input)
        #expect(answer.status == .ok, "\(answer.output)")
        if operation == "CreateParticipantToken" {
            #expect(answer.output["participantToken"]?["capabilities"] == ["PUBLISH", "SUBSCRIBE"])
        }
    }

    /// As JSON what is escaped has six times its bytes.
    @Test(arguments: [(200, nil), (1_023, "ValidationException")] as [(Int, String?)])
    func `a token that is longer than any gateway takes is not minted`(_ length: Int, _ error: String?) throws {
        let bench = try APIBench()
        let attributes: JSONObject = ["k": .string(String(repeating: "\u{1}", count: length))]
        let input: JSONObject = ["stageArn": .string(try bench.makeStage()), "attributes": .object(attributes)]
        #expect(try bench.call("CreateParticipantToken", input).type == error)
    }

    /// Twelve hours and both capabilities unless it is asked for others; 14 days at most.
    @Test(
        arguments: [
            ([:], 720, ["PUBLISH", "SUBSCRIBE"]),
            (
                ["duration": 20_160, "capabilities": ["SUBSCRIBE"], "userId": "Jürgen", "attributes": ["имя": "é"]], 20_160,
                ["SUBSCRIBE"]
            ),
        ] as [(JSONObject, Int64, [String])])
    func `a token says what its answer says`(_ wanted: JSONObject, _ minutes: Int64, _ capabilities: [String]) throws {
        let bench = try APIBench()
        var input = wanted
        input["stageArn"] = .string(try bench.makeStage())
        let answer = try #require(bench.call("CreateParticipantToken", input).output["participantToken"])
        let parts = try #require(answer["token"]?.string).split(separator: ".")
        let claims = try JSONValue(parsing: #require(Base64.url.decode(parts[1].utf8)))
        let (issued, expires) = (claims["iat"]?.integer ?? 0, claims["exp"]?.integer ?? 0)
        #expect(answer["duration"]?.integer == minutes && expires - issued == minutes * 60)
        #expect(answer["expirationTime"]?.string == CivilTime(WallTime(secondsSince1970: expires)).rfc3339)
        #expect(answer["capabilities"]?.array?.map(\.string) == capabilities)
        #expect(claims["capabilities"]?["allow_publish"]?.bool == capabilities.contains("PUBLISH"))
        #expect(claims["capabilities"]?["allow_subscribe"]?.bool == capabilities.contains("SUBSCRIBE"))
        #expect(answer["userId"] == wanted["userId"] && answer["attributes"] == wanted["attributes"])
        #expect(claims["user_id"] == wanted["userId"] && claims["attributes"] == wanted["attributes"])
        #expect(claims["jti"] == answer["participantId"] && claims["resource"] == input["stageArn"])
    }

    @Test(arguments: [("ListStages", 200), ("GetStage", 400), ("StartComposition", 403)])
    func `every answer has the seven header fields of the model`(_ operation: String, _ status: Int) throws {
        let answer = try APIBench().send(.post, "/\(operation)")
        #expect(answer.status.code == status)
        for (name, value) in [
            ("Access-Control-Allow-Origin", "*"), ("Cache-Control", "no-store, no-cache"),
            ("Content-Security-Policy", "default-src 'self'; upgrade-insecure-requests;"),
            ("Strict-Transport-Security", "max-age:47304000; includeSubDomains"), ("X-Content-Type-Options", "nosniff"),
            ("X-Frame-Options", "DENY"),
        ] { #expect(answer.headers.values(of: name) == [value]) }
        #expect(answer.headers["Access-Control-Expose-Headers"]?.contains("x-amzn-errortype") == true)
    }

    /// botocore has `ResponseMetadata["RequestId"]` only where the field is there.
    @Test
    func `every answer has an id of its own`() throws {
        let bench = try APIBench()
        var ids = Set<String>()
        for operation in ["ListStages", "ListStages", "GetStage", "StartComposition", "ListTagsForResource"] {
            ids.insert(try #require(try bench.send(.post, "/\(operation)").headers["x-amzn-RequestId"]))
        }
        #expect(ids.count == 5 && ids.allSatisfy { $0.count == 36 })
    }

    /// SDKs show the one that the model does not have.
    @Test
    func `an error says its sentence in both members`() throws {
        let output = try APIBench().call("StartComposition").output
        #expect(output["message"]?.string == "StartComposition is not served by Stagedoor.")
        #expect(output["exceptionMessage"] == output["message"])
    }

    @Test
    func `pages follow one another to the end`() throws {
        let bench = try APIBench()
        for _ in 0..<5 { _ = try bench.makeStage() }
        var seen = Set<String>()
        var token: JSONValue = nil
        var pages = 0
        repeat {
            let page = try bench.call("ListStages", ["maxResults": 2, "nextToken": token]).output
            for stage in page["stages"]?.array ?? [] { seen.insert(stage["arn"]?.string ?? "") }
            token = page["nextToken"] ?? nil
            pages += 1
        } while !token.isNull && pages < 10
        #expect(seen.count == 5)
        #expect(pages == 3)
    }

    @Test
    func `storage configurations come a hundred at once, as the model has it`() throws {
        let bench = try APIBench { $0.quotas.storageConfigurations = 60 }
        for _ in 0..<51 {
            #expect(try bench.call("CreateStorageConfiguration", ["s3": ["bucketName": "recordings"]]).status == .ok)
        }
        let page = try bench.call("ListStorageConfigurations").output
        #expect(page["storageConfigurations"]?.array?.count == 51 && page["nextToken"] == nil)
    }

    /// By its form, by the list that gave it, and by what this list's tokens say.
    @Test(arguments: ["!", "abc", String(hexadecimal: "p1stages x".utf8), String(hexadecimal: "p1events x".utf8)])
    func `a page token that no list of events gave is refused`(_ token: String) throws {
        let bench = try APIBench()
        let answer = try bench.call(
            "ListParticipantEvents",
            [
                "stageArn": .string(try bench.makeStage()), "sessionId": "st-aaaaaaaaaaaaa", "participantId": "p",
                "nextToken": .string(token),
            ])
        #expect(answer.type == "ValidationException")
    }

    @Test
    func `public keys are checked, counted and never taken twice`() throws {
        let bench = try APIBench()
        let pem = String(decoding: try ES384PrivateKey.generate().publicKey.pem, as: UTF8.self)
        let first = try bench.call("ImportPublicKey", ["publicKeyMaterial": .string(pem), "name": "k"])
        #expect(first.status == .ok)
        #expect(first.output["publicKey"]?["publicKeyMaterial"]?.string == pem)
        #expect(first.output["publicKey"]?["fingerprint"]?.string?.count == 47)
        #expect(try bench.call("ImportPublicKey", ["publicKeyMaterial": .string(pem)]).type == "ConflictException")
        #expect(try bench.call("ImportPublicKey", ["publicKeyMaterial": "x"]).type == "ValidationException")
        for _ in 0..<2 {
            let other = String(decoding: try ES384PrivateKey.generate().publicKey.pem, as: UTF8.self)
            #expect(try bench.call("ImportPublicKey", ["publicKeyMaterial": .string(other)]).status == .ok)
        }
        let fourth = String(decoding: try ES384PrivateKey.generate().publicKey.pem, as: UTF8.self)
        let refused = try bench.call("ImportPublicKey", ["publicKeyMaterial": .string(fourth)])
        #expect(refused.status.code == 402)
        #expect(refused.type == "ServiceQuotaExceededException")
    }

    /// By `openssl pkey -pubin -outform DER | md5sum`.
    @Test
    func `the fingerprint of a public key is the MD5 of its DER`() throws {
        let body = [
            "MHYwEAYHKoZIzj0CAQYFK4EEACIDYgAEngxpLeZ4i/4z8KdU6bKO3RnvywBqRyE0",
            "EY+6HmHWX50xxkT0hVznBXX+PIMv/pnHQkzXIP+GL+fKgfH3BKtdWFiYTq0tKeVg", "lyd4/UPoq4AfKxl4oM3+P17Xazifxg9c",
        ]
        let material = (["-----BEGIN PUBLIC KEY-----"] + body + ["-----END PUBLIC KEY-----"]).joined(separator: "\r\n")
        let key = try APIBench().call("ImportPublicKey", ["publicKeyMaterial": .string(material)]).output["publicKey"]
        #expect(key?["fingerprint"] == "60:ad:ac:03:b9:4a:e1:0a:1c:ee:0b:74:95:cf:c3:2a")
        let arn = try #require(key?["arn"]?.string)
        let form = /arn:aws:ivs:us-east-1:000000000000:public-key\/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/
        #expect(arn.wholeMatch(of: form) != nil)
    }

    /// The sample that IVS' guide prints is such a key, by two letters.
    @Test
    func `a public key that was miscopied is refused for that`() throws {
        var pem = try ES384PrivateKey.generate().publicKey.pem
        let last = pem.count - 1 - "\n-----END PUBLIC KEY-----\n".utf8.count
        pem[last] = pem[last] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
        let material = String(decoding: pem, as: UTF8.self)
        let answer = try APIBench().call("ImportPublicKey", ["publicKeyMaterial": .string(material)])
        #expect(answer.type == "ValidationException")
        #expect(answer.output["message"]?.string?.contains("no point on the curve P-384") == true)
    }

    @Test
    func `an ingest configuration keeps its rules`() throws {
        let bench = try APIBench()
        #expect(try bench.call("CreateIngestConfiguration", ["ingestProtocol": "RTMP"]).type == "ValidationException")
        let arn = try bench.makeStage()
        let made = try bench.call(
            "CreateIngestConfiguration",
            ["ingestProtocol": "RTMPS", "stageArn": .string(arn), "redundantIngest": true, "userId": "u"])
        let configuration = try #require(made.output["ingestConfiguration"])
        #expect(configuration["state"] == "INACTIVE")
        #expect(configuration["redundantIngestCredentials"]?.array?.count == 2)
        let detached = try bench.call(
            "UpdateIngestConfiguration", ["arn": configuration["arn"] ?? nil, "stageArn": "", "redundantIngest": false])
        #expect(detached.output["ingestConfiguration"]?["stageArn"] == "")
        #expect(detached.output["ingestConfiguration"]?["redundantIngestCredentials"] == nil)
        let listed = try bench.call("ListIngestConfigurations", ["filterByState": "INACTIVE"]).output
        #expect(listed["ingestConfigurations"]?[0]?["streamKey"] == nil)
        #expect(
            try bench.call("ListIngestConfigurations", ["filterByState": "ACTIVE", "filterByStageArn": .string(arn)]).type
                == "ValidationException")
    }

    @Test
    func `an ingest configuration belongs to a stage that there is, or to none`() throws {
        let bench = try APIBench()
        let unknown = JSONValue.string(ResourceName().arn(.stage, "x"))
        let made = try bench.call("CreateIngestConfiguration", ["ingestProtocol": "RTMPS"]).output["ingestConfiguration"]
        #expect(made?["stageArn"] == "")
        // Create answers with a ValidationException: it has no other in the model.
        let moved = try bench.call("UpdateIngestConfiguration", ["arn": try #require(made?["arn"]), "stageArn": unknown])
        #expect(moved.status == .notFound && moved.type == "ResourceNotFoundException")
    }

    @Test
    func `of an ingest configuration its stage and redundancy change, and nothing else`() throws {
        let bench = try APIBench()
        let wanted: JSONObject = [
            "ingestProtocol": "RTMP", "insecureIngest": true, "name": "n", "stageArn": .string(try bench.makeStage()),
            "userId": "ü", "attributes": ["k": "é"], "tags": ["t": "v"],
        ]
        let made = try #require(bench.call("CreateIngestConfiguration", wanted).output["ingestConfiguration"])
        for (name, value) in wanted.members where name != "insecureIngest" { #expect(made[name] == value, "\(name)") }
        #expect(made["redundantIngest"] == false && made["redundantIngestCredentials"] == nil)
        let kept = ["participantId", "streamKey", "ingestProtocol", "name", "userId", "attributes", "tags"]
        var stage = made["stageArn"]
        for change in [
            [:], ["redundantIngest": true], ["stageArn": .string(try bench.makeStage())],
            ["ingestProtocol": "RTMPS", "insecureIngest": false, "name": "m", "userId": "m", "attributes": [:]],
        ] as [JSONObject] {
            stage = change["stageArn"] ?? stage
            var input = change
            input["arn"] = made["arn"]
            let changed = try #require(bench.call("UpdateIngestConfiguration", input).output["ingestConfiguration"])
            #expect(changed["stageArn"] == stage)
            #expect(kept.allSatisfy { changed[$0] == made[$0] }, "\(input)")
        }
        let configuration = bench.store.state.ingestConfigurations[try #require(made["arn"]?.string)]
        #expect(configuration?.insecureIngest == true && configuration?.redundantIngest == true)
    }

    @Test
    func `tags are set, listed and removed`() throws {
        let bench = try APIBench()
        let arn = PercentEncoding.encode(try bench.makeStage())
        #expect(try bench.send(.post, "/tags/\(arn)", body: Array(#"{"tags":{"a":"1","b":""}}"#.utf8)).status == .ok)
        #expect(try bench.send(.delete, "/tags/\(arn)?tagKeys=a").status == .ok)
        #expect(try bench.send(.get, "/tags/\(arn)").body == Array(#"{"tags":{"b":""}}"#.utf8))
        #expect(try bench.send(.get, "/tags/nonsense").status == .badRequest)
        #expect(try bench.send(.get, "/tags/" + PercentEncoding.encode(ResourceName().arn(.stage, "x"))).status == .notFound)
    }

    @Test(arguments: ["ListCompositions", "ListEncoderConfigurations", "ListStorageConfigurations"])
    func `lists of what is not served are empty`(_ operation: String) throws {
        let answer = try APIBench().call(operation)
        #expect(answer.status == .ok)
        #expect(answer.output.object?.members.first?.value == [])
    }

    @Test
    func `what is not served says so`() throws {
        let answer = try APIBench().call("StartComposition")
        #expect(answer.status == .forbidden)
        #expect(answer.type == "AccessDeniedException")
    }

    @Test
    func `rates are answered 429 and recover`() throws {
        let bench = try APIBench { $0.rates.resources = 2 }
        #expect(try bench.call("ListStages").status == .ok)
        #expect(try bench.call("ListStages").status == .ok)
        // A call that takes half a second has earned the next one.
        var answer = try bench.call("ListStages")
        for _ in 0..<100 where answer.status == .ok { answer = try bench.call("ListStages") }
        #expect(answer.status == .tooManyRequests)
        #expect(answer.type == "ThrottlingException")
        _ = bench.loop.run(until: { false }, within: .milliseconds(600))
        #expect(try bench.call("ListStages").status == .ok)
    }

    @Test(
        arguments: [
            ("evil.example", nil, 403), ("127.0.0.1:8088", "http://evil.example", 403), ("localhost:1", nil, 200),
            ("[::1]:8088", "http://[::1]:8088", 200), ("127.0.0.1.evil.example", nil, 403),
        ] as [(String, String?, Int)])
    func `only our own names and pages may ask`(_ host: String, _ origin: String?, _ status: Int) throws {
        var headers: HTTPHeaders = ["Host": host]
        if let origin { headers["Origin"] = origin }
        #expect(try APIBench().send(.post, "/ListStages", headers: headers).status.code == status)
    }

    @Test
    func `without a signature nothing is served`() throws {
        let bench = try APIBench { $0.admin.auth = .sigv4 }
        let answer = try bench.call("ListStages")
        #expect(answer.status == .forbidden)
        #expect(answer.type == "MissingAuthenticationTokenException")
    }

    /// The region of a client's environment is often another service's.
    @Test
    func `whoever signs for another region reads which one is meant`() throws {
        let bench = try APIBench { $0.admin.auth = .sigv4 }
        let authorization =
            "AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20260102/eu-west-1/ivs/aws4_request, SignedHeaders=host;x-amz-date, "
            + "Signature=" + String(repeating: "0", count: 64)
        let headers: HTTPHeaders = ["Host": "127.0.0.1:8088", "Authorization": authorization]
        let answer = try bench.send(.post, "/ListStages", headers: headers)
        #expect(answer.headers["x-amzn-ErrorType"] == "InvalidSignatureException")
        let message = try JSONValue(parsing: answer.body)["message"]?.string
        #expect(message?.hasSuffix("sign for the region us-east-1 and the service ivs.") == true)
    }
}
