import Admission
import EventLoop
import Foundation
import HTTPClient
import JSON
import SDP
import StageHub
import TestSupport
import Testing
import Wire

@testable import RouterForwarding

/// docs/examples/stage_router.py as a process.
final class ExampleRouter {
    let process = Process()
    let url: String

    init(port: Int = 0) throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        process.executableURL = URL(filePath: "/usr/bin/python3")
        process.arguments = [root.appending(path: "docs/examples/stage_router.py").path, "--http", "\(port)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        var line: [UInt8] = []
        while let byte = try output.fileHandleForReading.read(upToCount: 1)?.first, byte != 10 { line.append(byte) }
        url = "http://127.0.0.1:" + String(decoding: line, as: UTF8.self)
    }

    func kill() {
        if process.isRunning { Glibc.kill(process.processIdentifier, SIGKILL) }
    }

    /// Takes connections from now on and answers nothing.
    func hang() { Glibc.kill(process.processIdentifier, SIGSTOP) }

    deinit { kill() }
}

/// One worker and the control loop on one loop, with encoders that send a picture and a sound every 33 ms.
final class Gateway: MediaSource {
    let loop: EventLoop
    let http: RouterHTTPClient
    let socket: RouterSocket
    let control: RouterControl
    let forwarder: RouterForwarder
    let canRequestKeyframe = true
    var keyframeRequests = 0
    var stories: [RouterControl.Story] = []
    var publications: [Publication] = []
    /// An encoder's real pictures in place of made-up ones; the next one is an IDR after a request.
    var clip: [AnnexB.AccessUnit] = []
    /// Encodings of each publication's video.
    var layers = 1
    private var writer: ClipWriter?
    private var frame: Int64 = 0
    private var encoder: TimerWatch?

    init(_ drivers: (RouterHTTPClient) -> [any RouterDriver]) throws {
        loop = try EventLoop()
        http = RouterHTTPClient(HTTPClient(loop: loop), router: "r")
        socket = try RouterSocket(loop: loop, address: SocketAddress(.loopback, port: 0))
        control = try RouterControl(loop: loop, drivers: drivers(http), placements: LocalPlacements())
        forwarder = try RouterForwarder(socket: socket, control: control.sender)
        control.onStory = { [unowned self] in stories.append($0) }
        encoder = loop.schedule(after: .zero, repeating: .milliseconds(33)) { [unowned self] in encode() }
    }

    convenience init(_ routers: [ExampleRouter]) throws {
        let trust = RouterTrust(networks: [IPNetwork("127.0.0.0/8")!])
        try self.init { http in
            routers.enumerated().map { index, router in
                AnnounceDriver(.init(name: "r\(index)", url: router.url, trust: trust), gatewayID: "g", http: http)
            }
        }
    }

    func publish(_ participant: String, stage: String) {
        let publication = Publication(
            grant: PublishGrant(participantID: participant, stageARN: "arn:" + stage, stageID: stage, credentialHash: "h"),
            lease: PublishLease(participantID: participant, stageID: stage, stageSessionID: "st", generation: 1),
            ingestProtocol: .whip, timeline: Timeline())
        publication.source = self
        for track in videoTracks { publication.setFormat(.h264(sps: [0x67, 0x42, 0xC0, 0x1F], pps: [0x68, 0xCE]), of: track) }
        publication.setFormat(.opus(isStereo: true), of: .audio)
        publications.append(publication)
        forwarder.attach(publication)
    }

    private var videoTracks: [TrackID] { (0..<layers).map { TrackID(.video, layer: UInt8($0)) } }

    private func encode() {
        frame += 1
        guard clip.isEmpty else { return encodeClip() }
        for publication in publications {
            for track in videoTracks { send([0x65, 0x88, 0x84], track, frame * 3000, to: publication) }
            send([0xFC, 0xFF, 0xFE], .audio, frame * 1600, to: publication)
        }
    }

    private func encodeClip() {
        let unit = clip[Int(frame - 1) % clip.count]
        for publication in publications {
            let writer = writer ?? ClipWriter(clip, to: publication)
            self.writer = writer
            publication.timeline.observe(frame * 3000, of: .video, arrival: loop.now)
            writer.write(unit, at: .nanoseconds(frame * 3000 * 1_000_000 / 90), arrival: loop.now)
            send([0xFC, 0xFF, 0xFE], .audio, frame * 1600, to: publication)
        }
    }

    private func send(_ payload: [UInt8], _ track: TrackID, _ timestamp: Int64, to publication: Publication) {
        publication.timeline.observe(timestamp, of: track, arrival: loop.now)
        payload.withUnsafeBytes { bytes in
            let packet = MediaPacket(sequenceNumber: frame, timestamp: timestamp, marker: true, payload: bytes)
            let run = MediaRun(track: track, isKeyframe: track.kind == .video && frame % 10 == 0, arrival: loop.now)
            withUnsafePointer(to: packet) { publication.forward(UnsafeBufferPointer(start: $0, count: 1), of: run) }
        }
    }

    func requestKeyframe(_ track: TrackID) { keyframeRequests += 1 }
    func limitBitrate(_ bitsPerSecond: Int?) {}

    /// Not one run of the loop: what is asked may run it too, and would take the end of the time for its own.
    func wait(_ limit: Duration = .seconds(60), until isDone: () -> Bool) -> Bool {
        let end = EventLoop.monotonicNow() + limit
        while !isDone() {
            guard EventLoop.monotonicNow() < end else { return false }
            _ = loop.run(until: { false }, within: .milliseconds(5))
        }
        return true
    }

    /// A router's answer; an issue when there is none, which says nothing of whom it has.
    func answer(to request: RouterRequest) -> JSONValue {
        var (answer, isOver) = (JSONValue?.none, false)
        http.send(request, deadline: .seconds(50)) { response in
            (answer, isOver) = (response.flatMap { try? JSONValue(parsing: $0.body) }, true)
        }
        _ = wait { isOver }
        if answer == nil { Issue.record("\(request.url) does not answer") }
        return answer ?? .null
    }

    /// What the router has received, by participant.
    func status(of router: ExampleRouter) -> [String: JSONValue] {
        let answer = answer(to: RouterRequest(method: "GET", url: router.url + "/status"))
        return Dictionary(answer.object?.members.map { ($0.name, $0.value) } ?? []) { first, _ in first }
    }

    var announced: Int { stories.filter { if case .announced = $0 { true } else { false } }.count }
}
