import AMF0
import Foundation
import TestSupport
import Testing

@testable import RTMP

func fixture(_ name: String) throws -> [UInt8] {
    let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fixtures/rtmp")
    return try Array(Data(contentsOf: folder.appending(path: name)))
}

@Suite("Server session")
struct ServerSessionTests {
    static let captures = ["rtmp-connect-obs-32.2.2.bin", "rtmp-connect-ffmpeg-5.1.bin", "rtmp-connect-ffmpeg-9.0.2.bin"]

    private static func flashVersion(_ capture: String) -> String {
        if capture.contains("obs") { return "FMLE/3.0 (compatible; FMSc/1.0)" }
        return capture.contains("5.1") ? "FMLE/3.0 (compatible; Lavf59.27.100)" : "FMLE/3.0 (compatible; Lavf63.1.102)"
    }

    /// A captured `connect`, then a publish with media as OBS or ffmpeg chunk it.
    private func session(_ capture: String) throws -> (bytes: [UInt8], happenings: [Happening]) {
        var encoder = EncoderBytes()
        encoder.bytes += try fixture(capture)
        if capture.contains("obs") { encoder.writer.chunkSize = 4_096 }
        encoder.command(RTMPCommand(name: "releaseStream", transactionID: 2, arguments: ["KEY"]))
        encoder.command(RTMPCommand(name: "FCPublish", transactionID: 3, arguments: ["KEY"]))
        encoder.publish()
        let metadata = ([AMF0Value.string("@setDataFrame"), "onMetaData", .ecmaArray(["width": 1_280.0])]).amf0Bytes
        let video = (0..<9_000).map { UInt8(truncatingIfNeeded: $0) }
        encoder.message(type: 18, metadata)
        encoder.message(type: 9, timestamp: 0, video)
        encoder.message(type: 8, timestamp: 21, [0xAF, 1, 2])
        encoder.command(RTMPCommand(name: "FCUnpublish", transactionID: 6, arguments: ["KEY"]))
        encoder.command(RTMPCommand(name: "deleteStream", transactionID: 7, arguments: [1.0]))
        return (
            encoder.bytes,
            [
                .connect(app: "app", tcURL: "rtmp://127.0.0.1:19360/app", flashVersion: Self.flashVersion(capture)),
                .publish(application: "app", key: "KEY"), .data(0, metadata), .video(0, video), .audio(21, [0xAF, 1, 2]),
                .unpublished,
            ]
        )
    }

    @Test(arguments: captures)
    func `serves a captured encoder, however its bytes are cut`(_ capture: String) throws {
        let (bytes, expected) = try session(capture)
        var cuts = [[bytes], ByteFeeder.pieces(of: bytes, size: 1), ByteFeeder.pieces(of: bytes, size: 1_460)]
        cuts += (0..<20 as Range<UInt64>).map { ByteFeeder.pieces(of: bytes, seed: $0, upTo: 2_000) }
        var outputs = Set<[UInt8]>()
        for pieces in cuts {
            let driver = SessionDriver()
            for piece in pieces { driver.feed(piece) }
            #expect(driver.happenings == expected)
            outputs.insert(driver.output)
        }
        #expect(outputs.count == 1, "The answers depend on how the bytes were cut")
    }

    @Test(arguments: captures)
    func `makes no more of a prefix than is in it`(_ capture: String) throws {
        let (bytes, expected) = try session(capture)
        let driver = SessionDriver()
        for byte in bytes {
            driver.feed([byte])
            guard expected.starts(with: driver.happenings) else {
                Issue.record("\(driver.happenings)")
                return
            }
        }
    }

    @Test func `answers in the order that encoders expect`() throws {
        let driver = SessionDriver()
        driver.feed(try session(Self.captures[0]).bytes)
        #expect(
            try driver.answerNames == [
                "_result NetConnection.Connect.Success", "_result", "_result", "onFCPublish NetStream.Publish.Start", "_result",
                "onStatus NetStream.Publish.Start", "_result", "onStatus NetStream.Unpublish.Success",
            ])
        // Window, bandwidth and chunk size come before the result.
        let afterHandshake = driver.output[3_073...]
        #expect(afterHandshake.prefix(16) == [2, 0, 0, 0, 0, 0, 4, 5, 0, 0, 0, 0, 0, 0x26, 0x25, 0xA0])
        #expect(afterHandshake.dropFirst(16).prefix(17) == [2, 0, 0, 0, 0, 0, 5, 6, 0, 0, 0, 0, 0, 0x26, 0x25, 0xA0, 2])
        #expect(afterHandshake.dropFirst(33).prefix(16) == [2, 0, 0, 0, 0, 0, 4, 1, 0, 0, 0, 0, 0, 1, 0, 0])
    }

    @Test func `gives every transaction its own answer`() throws {
        let driver = SessionDriver()
        driver.feed(try session(Self.captures[1]).bytes)
        let results = try driver.answers.filter { $0.name == "_result" }
        #expect(results.map(\.transactionID) == [1, 2, 3, 4, 6])
        #expect(results[3].arguments == [.number(1)])
        #expect(try driver.answers.first { $0.name == "onFCPublish" }?.transactionID == 0)
    }

    @Test func `holds what follows publish until it is answered`() {
        let driver = SessionDriver()
        driver.grantsPublish = false
        var encoder = EncoderBytes.published()
        let announced = encoder.bytes.count
        encoder.message(type: 8, timestamp: 5, [0xAF, 0, 1])
        driver.feed(encoder.bytes)
        #expect(driver.happenings.last == .publish(application: "app", key: "KEY"))
        #expect(driver.unconsumedByteCount == encoder.bytes.count - announced)
        driver.acceptPublish()
        #expect(driver.happenings.last == .audio(5, [0xAF, 0, 1]))
    }

    @Test func `takes commands in AMF 3 wrapping, and data`() {
        var encoder = EncoderBytes()
        let connect = RTMPCommand(
            name: "connect", transactionID: 1, object: .ecmaArray(["app": "app", "tcurl": "'rtmp://h/app'"]))
        encoder.message(type: 17, streamID: 0, chunkStreamID: 3, [0] + connect.bytes)
        encoder.publish()
        encoder.message(type: 15, [0, 2, 0, 1, 0x61])
        let driver = SessionDriver()
        driver.feed(encoder.bytes)
        #expect(driver.happenings.first == .connect(app: "app", tcURL: "rtmp://h/app", flashVersion: ""))
        #expect(driver.happenings.last == .data(0, [2, 0, 1, 0x61]))
    }

    /// Flash connects with nobody who answers with another encoding, and may add objects of its own in AMF 3.
    @Test func `answers the encoding that was asked for, and reads commands up to their AMF 3`() throws {
        let connect = RTMPCommand(
            name: "connect", transactionID: 1, object: .object(["app": "app", "tcUrl": "rtmp://h/app", "objectEncoding": 3.0]))
        let publish = RTMPCommand(name: "publish", transactionID: 5, arguments: ["KEY", "live"])
        var encoder = EncoderBytes()
        encoder.message(type: 20, streamID: 0, chunkStreamID: 3, connect.bytes + [0x11, 0x0A, 0x0B, 0x01, 0x01])
        encoder.message(type: 17, streamID: 1, chunkStreamID: 3, [0] + publish.bytes + [0x11, 0x04, 0x01])
        let driver = SessionDriver()
        driver.feed(encoder.bytes)
        #expect(
            driver.happenings == [
                .connect(app: "app", tcURL: "rtmp://h/app", flashVersion: ""), .publish(application: "app", key: "KEY"),
            ])
        let result = try #require(driver.answers.first { $0.name == "_result" })
        #expect(result.arguments.first?.members?["objectEncoding"]?.number == 3)
    }

    private static let members: AMF0Object = [
        "app": "app", "tcUrl": "rtmp://h/app", "fourCcList": .strictArray(["avc1", "Opus"]), "flashVer": "X",
        "extra": .object(["since": .date(milliseconds: 1), "note": .xmlDocument("<a/>"), "none": .undefined]),
    ]

    @Test(
        arguments: [
            .object(members), .ecmaArray(members), .typedObject(className: "Connect", members),
        ] as [AMF0Value])
    func `reads connect from an object, an array or a typed object`(_ value: AMF0Value) {
        var encoder = EncoderBytes()
        encoder.command(RTMPCommand(name: "connect", transactionID: 1, object: value, arguments: [.strictArray([1.0, .null])]))
        encoder.publish()
        let driver = SessionDriver()
        driver.feed(encoder.bytes)
        #expect(
            driver.happenings == [
                .connect(app: "app", tcURL: "rtmp://h/app", flashVersion: "X"), .publish(application: "app", key: "KEY"),
            ])
    }

    /// Encoders of Envivio leave out the three bytes that end it.
    @Test(arguments: [.object(members), .ecmaArray(members)] as [AMF0Value])
    func `reads connect from an object without an end`(_ value: AMF0Value) {
        let connect = RTMPCommand(name: "connect", transactionID: 1, object: value)
        var encoder = EncoderBytes()
        encoder.message(type: 20, streamID: 0, chunkStreamID: 3, connect.bytes.dropLast(3))
        encoder.publish()
        let driver = SessionDriver()
        driver.feed(encoder.bytes)
        #expect(
            driver.happenings == [
                .connect(app: "app", tcURL: "rtmp://h/app", flashVersion: "X"), .publish(application: "app", key: "KEY"),
            ])
    }

    /// What encoders ask beside publishing, as far as they wait for an answer; none makes them wait for ever.
    @Test(arguments: [
        ("releaseStream", "_result"), ("FCPublish", "_result"), ("FCUnpublish", "_result"), ("_checkbw", "_result"),
        ("setPeerInfo", "_result"), ("getStreamLength", "_result"), ("onBWCheck", "_error"), ("FCSubscribe", "_error"),
    ])
    func `answers each question under its transaction`(_ name: String, _ answer: String) throws {
        var encoder = EncoderBytes()
        encoder.connect()
        encoder.command(RTMPCommand(name: name, transactionID: 7, arguments: ["KEY"]))
        encoder.command(RTMPCommand(name: name, arguments: ["KEY"]))
        let driver = SessionDriver()
        driver.feed(encoder.bytes)
        let answers = try driver.answers.dropFirst().filter { ["_result", "_error"].contains($0.name) }
        #expect(answers.map(\.name) == [answer] && answers.map(\.transactionID) == [7])
    }

    @Test func `publishes on stream 0, and in Haivision's order`() throws {
        var encoder = EncoderBytes()
        encoder.connect()
        encoder.command(RTMPCommand(name: "createStream", transactionID: 2))
        encoder.command(RTMPCommand(name: "releaseStream", transactionID: 3, arguments: ["KEY"]))
        encoder.command(RTMPCommand(name: "FCPublish", transactionID: 4, arguments: ["KEY"]))
        encoder.command(RTMPCommand(name: "publish", transactionID: 5, arguments: ["KEY"]), streamID: 0)
        encoder.message(type: 9, streamID: 0, [0x17, 0])
        encoder.command(RTMPCommand(name: "closeStream"))
        let driver = SessionDriver()
        driver.feed(encoder.bytes)
        #expect(driver.happenings.suffix(3) == [.publish(application: "app", key: "KEY"), .video(0, [0x17, 0]), .unpublished])
    }

    @Test func `unfolds aggregates`() {
        var encoder = EncoderBytes.published()
        let tags: [UInt8] =
            [8, 0, 0, 2, 0, 0, 100, 0, 0, 0, 0, 0xAF, 1, 0, 0, 0, 13] + [18, 0, 0, 1, 0, 0, 110, 0, 0, 0, 0, 5, 0, 0, 0, 12]
            + [9, 0, 0, 1, 0, 0, 140, 0, 0, 0, 0, 0x27, 0, 0, 0, 12]
        encoder.message(type: 22, timestamp: 5_000, tags)
        let driver = SessionDriver()
        driver.feed(encoder.bytes)
        #expect(driver.happenings.suffix(3) == [.audio(5_000, [0xAF, 1]), .data(5_010, [5]), .video(5_040, [0x27])])
    }

    @Test func `passes over media after unpublish, and publishes again`() {
        var encoder = EncoderBytes.published()
        encoder.command(RTMPCommand(name: "FCUnpublish", transactionID: 6, arguments: ["KEY"]))
        encoder.message(type: 9, [0x27])
        encoder.command(RTMPCommand(name: "publish", transactionID: 7, arguments: ["KEY2", "live"]), streamID: 1)
        encoder.message(type: 9, [0x17])
        let driver = SessionDriver()
        driver.feed(encoder.bytes)
        #expect(driver.happenings.suffix(3) == [.unpublished, .publish(application: "app", key: "KEY2"), .video(0, [0x17])])
    }

    @Test func `ends a stream once, however often that is asked, and not with another one`() throws {
        var encoder = EncoderBytes.published()
        encoder.command(RTMPCommand(name: "deleteStream", transactionID: 6, arguments: [.number(2)]), streamID: 2)
        encoder.message(type: 9, [0x27])
        encoder.command(RTMPCommand(name: "FCUnpublish", transactionID: 7, arguments: ["KEY"]))
        for _ in 0..<2 { encoder.command(RTMPCommand(name: "deleteStream", transactionID: 8, arguments: [.number(1)])) }
        encoder.command(RTMPCommand(name: "closeStream"), streamID: 1)
        let driver = SessionDriver()
        driver.feed(encoder.bytes)
        #expect(driver.happenings.suffix(2) == [.video(0, [0x27]), .unpublished])
        let names = ["onStatus NetStream.Publish.Start", "_result", "onStatus NetStream.Unpublish.Success"]
        #expect(try Array(driver.answerNames.suffix(3)) == names)
    }

    /// More often than streams may be at a time.
    @Test func `an encoder publishes forty times on one connection`() throws {
        var encoder = EncoderBytes()
        encoder.connect()
        for _ in 0..<40 {
            encoder.publish()
            encoder.message(type: 9, [0x17])
            encoder.command(RTMPCommand(name: "deleteStream", arguments: [.number(1)]))
        }
        let driver = SessionDriver()
        driver.feed(encoder.bytes)
        #expect(driver.happenings.count { $0 == .unpublished } == 40 && driver.happenings.count { $0 == .video(0, [0x17]) } == 40)
        let streams = try driver.answers.filter { $0.name == "_result" && $0.transactionID == 4 }
        #expect(streams.count == 40 && streams.allSatisfy { $0.arguments == [.number(1)] })
    }

    /// As of an encoder with three bitrates on one connection. What is live on stream 0 ends with
    /// whatever is deleted, but for these.
    @Test(arguments: [0, 1] as [UInt32])
    func `further streams beside a live one are refused, and their media and their ends are not the live one's`(
        live: UInt32
    ) throws {
        let others: [(id: UInt32, name: AMF0Value)] = [(2, "OTHER2"), (3, "OTHER3")]
        var encoder = EncoderBytes()
        encoder.connect()
        encoder.command(RTMPCommand(name: "publish", transactionID: 5, arguments: ["KEY", "live"]), streamID: live)
        for (id, name) in others {
            encoder.command(RTMPCommand(name: "publish", transactionID: 6, arguments: [name, "live"]), streamID: id)
        }
        for (id, _) in others { encoder.message(type: 9, streamID: id, chunkStreamID: id + 3, [0x27, 2]) }
        encoder.message(type: 9, streamID: live, [0x27, 1])
        for (id, name) in others {
            encoder.command(RTMPCommand(name: "FCUnpublish", transactionID: 7, arguments: [name]))
            encoder.command(RTMPCommand(name: "closeStream"), streamID: id)
            encoder.command(RTMPCommand(name: "deleteStream", arguments: [.number(Double(id))]))
        }
        encoder.message(type: 9, streamID: live, [0x27, 3])
        encoder.command(RTMPCommand(name: "closeStream"), streamID: live)
        let driver = SessionDriver()
        driver.feed(encoder.bytes)
        #expect(
            driver.happenings.suffix(4) == [
                .publish(application: "app", key: "KEY"), .video(0, [0x27, 1]), .video(0, [0x27, 3]), .unpublished,
            ])
        #expect(try driver.answerNames.count { $0 == "onStatus NetStream.Publish.BadName" } == others.count)
    }

    /// Encoders that create two streams, and take the second for the one that they publish.
    @Test func `who asks once more for what is live goes on, on whatever stream`() {
        var encoder = EncoderBytes.published()
        encoder.command(RTMPCommand(name: "publish", transactionID: 6, arguments: ["KEY", "live"]), streamID: 2)
        encoder.message(type: 9, streamID: 2, [0x27, 2])
        encoder.command(RTMPCommand(name: "closeStream"), streamID: 2)
        let driver = SessionDriver()
        driver.feed(encoder.bytes)
        #expect(driver.happenings.suffix(2) == [.video(0, [0x27, 2]), .unpublished])
    }

    @Test func `acknowledges windows, the handshake counted`() {
        var encoder = EncoderBytes()
        encoder.bytes += [2, 0, 0, 0, 0, 0, 4, 5, 0, 0, 0, 0, 0, 0, 0x20, 0]  // window of 8,192 bytes
        encoder.connect()
        encoder.publish()
        let head = encoder.bytes.count
        encoder.message(type: 9, [UInt8](repeating: 0x27, count: 6_000))
        let driver = SessionDriver()
        driver.feed(Array(encoder.bytes[..<head]))
        let answered = driver.output.count
        driver.feed(Array(encoder.bytes[head...]))
        let count = UInt32(encoder.bytes.count)
        let acknowledgement: [UInt8] = [2, 0, 0, 0, 0, 0, 4, 3, 0, 0, 0, 0, 0, 0, UInt8(count >> 8), UInt8(count & 255)]
        #expect(Array(driver.output[answered...]) == acknowledgement)
    }

    /// The window that an encoder wishes, and after how many bytes it hears of them: half of it, or of ours.
    @Test(arguments: [(nil, 1_250_000), (8_192, 4_096), (1, 2_048), (20_000_000, 1_250_000)] as [(UInt32?, Int)])
    func `acknowledges half a window`(_ wish: UInt32?, _ count: Int) throws {
        var window = ReceiveWindow()
        if let wish { try window.resize(to: wish) }
        for number in 1...2 {
            let (early, due) = (window.received(count - 1), window.received(1))
            let sequenceNumber = window.acknowledge()
            #expect(!early && due && sequenceNumber == UInt32(number * count))
        }
    }

    @Test func `says with each ping what has come`() throws {
        var session = RTMPServerSession(crypto: .fake)
        var encoder = EncoderBytes()
        encoder.connect()
        var offset = 0
        try encoder.bytes.withUnsafeBytes { _ = try session.nextEvent(in: $0, at: &offset) }
        session.acceptConnect()
        _ = session.takeOutput()
        session.ping(stamp: 0x0102_0304)
        let output = session.takeOutput()
        let count = encoder.bytes.count
        let acknowledgement: [UInt8] = [2, 0, 0, 0, 0, 0, 4, 3, 0, 0, 0, 0, 0, 0, UInt8(count >> 8), UInt8(count & 255)]
        #expect(output.prefix(16) == acknowledgement[...])
        #expect(output.dropFirst(16) == [2, 0, 0, 0, 0, 0, 6, 4, 0, 0, 0, 0, 0, 6, 1, 2, 3, 4])
    }

    @Test func `answers pings`() {
        var encoder = EncoderBytes.published()
        encoder.message(type: 4, streamID: 0, chunkStreamID: 2, [0, 6, 1, 2, 3, 4])
        let driver = SessionDriver()
        driver.feed(encoder.bytes)
        #expect(driver.output.suffix(18) == [2, 0, 0, 0, 0, 0, 6, 4, 0, 0, 0, 0, 0, 7, 1, 2, 3, 4])
    }

    @Test func `names its codecs to an encoder that asks, and asks it to reconnect`() throws {
        var session = RTMPServerSession(crypto: .fake)
        var encoder = EncoderBytes()
        encoder.command(
            RTMPCommand(
                name: "connect", transactionID: 1,
                object: .object(["app": "app", "capsEx": 1.0, "fourCcList": .strictArray(["*"])])))
        var offset = 0
        try encoder.bytes.withUnsafeBytes { _ = try session.nextEvent(in: $0, at: &offset) }
        session.acceptConnect()
        let text = String(decoding: session.takeOutput(), as: Unicode.ASCII.self)
        for name in ["capsEx", "videoFourCcInfoMap", "avc1", "audioFourCcInfoMap", "Opus", "mp4a"] {
            #expect(text.contains(name))
        }
        let isAsked = session.requestReconnect(description: "Draining")
        #expect(isAsked)
        let request = String(decoding: session.takeOutput(), as: Unicode.ASCII.self)
        #expect(request.contains("NetConnection.Connect.ReconnectRequest") && request.contains("Draining"))
    }

    /// Several tracks are offered to whom capsEx means something; the rest of the answer stays.
    @Test(
        arguments: [
            (["app": "app", "capsEx": 0.0], 15), (["app": "app", "capsEx": 2.0, "fourCcList": .strictArray(["*"])], 15),
            (["app": "app", "fourCcList": .strictArray(["avc1"])], 13), (["app": "app"], nil),
        ] as [(AMF0Object, Double?)])
    func `tells its capabilities`(_ object: AMF0Object, _ capabilities: Double?) throws {
        var session = RTMPServerSession(crypto: .fake)
        var encoder = EncoderBytes()
        encoder.command(RTMPCommand(name: "connect", transactionID: 1, object: .object(object)))
        var offset = 0
        try encoder.bytes.withUnsafeBytes { _ = try session.nextEvent(in: $0, at: &offset) }
        session.acceptConnect()
        let answer = session.takeOutput()
        let member = { (value: Double) in Array("capsEx".utf8) + [AMF0Value.number(value)].amf0Bytes }
        if let capabilities {
            #expect(answer.contains(member(capabilities)))
        } else {
            #expect(!answer.contains(Array("capsEx".utf8)))
        }
    }
}
