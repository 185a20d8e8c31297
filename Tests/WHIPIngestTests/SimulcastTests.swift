import RTCP
import Refusals
import SDP
import StageHub
import TestSupport
import Testing
import Wire

@testable import WHIPIngest

/// RFC 8853 on real sockets: layers told apart by their RIDs (RFC 8852), as OBS 32 sends them.
@Suite("Simulcast on the wire", .timeLimit(.minutes(10)))
struct SimulcastTests {
    @Test(arguments: 1...3)
    func `all layers go on, each with its numbers, and are asked for what is missing`(_ count: Int) throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let publisher = try #require(try SimulcastPublisher(layerCount: count, gateway))
        let accepted = publisher.client.answer?.media[1].attributes.first(Simulcast.self)?.receive
        #expect(accepted?.count == count)
        for _ in 0..<20 {
            for layer in 0..<count { publisher.send(layer, isKeyframe: publisher.numbers[layer] == 0) }
        }
        for layer in 0..<count {
            #expect(eventually { gateway.output["layers"]?.layers[UInt8(layer)] == Array(0..<21) })
        }
        #expect(gateway.output["layers"]?.keyframes == count)
        // A gap in every layer: asked for again and again, for nobody answers.
        for layer in 0..<count {
            publisher.send(layer, isLost: true)
            for _ in 0..<5 { publisher.send(layer) }
        }
        for layer in 0..<count { #expect(eventually { publisher.asked(layer) >= 2 }) }
    }

    @Test func `of four layers, which OBS wants accepted, three go on and nothing is asked of the fourth`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let publisher = try #require(try SimulcastPublisher(layerCount: 4, gateway))
        let accepted = publisher.client.answer?.media[1].attributes.first(Simulcast.self)?.receive
        #expect(accepted?.count == 4)
        for _ in 0..<20 {
            for layer in 0..<4 { publisher.send(layer, isKeyframe: publisher.numbers[layer] == 0) }
        }
        publisher.send(3, isLost: true)
        for _ in 0..<5 { publisher.send(3) }
        for layer in 0..<3 {
            #expect(eventually { gateway.output["layers"]?.layers[UInt8(layer)] == Array(0..<21) })
        }
        #expect(gateway.output["layers"]?.layers.count == 3 && gateway.output["layers"]?.ended == nil)
        #expect(publisher.asked(3) == 0 && !publisher.isKeyframeWanted(of: 3))
    }

    @Test func `a layer that comes late joins, and is asked for its keyframe alone`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let publisher = try #require(try SimulcastPublisher(layerCount: 3, gateway))
        for layer in 0..<2 { publisher.send(layer, isKeyframe: true) }
        #expect(eventually { gateway.output["layers"]?.layers.count == 2 })
        #expect(
            eventually {
                publisher.send(2)
                return publisher.isKeyframeWanted(of: 2)
            })
        publisher.send(2, isKeyframe: true)
        #expect(eventually { gateway.output["layers"]?.keyframes == 3 })
    }
}

extension SimulcastTests {
    @Test func `a layer that breaks the contract is named by its rank and size`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let publisher = try #require(try SimulcastPublisher(layerCount: 2, gateway))
        var set = SPSBuilder()
        (set.profileIDC, set.width, set.height) = (77, 320, 180)
        publisher.sequenceSets[1] = set.bytes
        for number in 0..<100 where gateway.output["layers"]?.ended == nil {
            for layer in 0..<2 { publisher.send(layer, isKeyframe: number == 0) }
        }
        #expect(eventually { gateway.output["layers"]?.ended != nil })
        guard case .refused(let refusal)? = gateway.output["layers"]?.ended else {
            Issue.record("\(String(describing: gateway.output["layers"]?.ended))")
            return
        }
        #expect(refusal.code == .videoProfile)
        #expect(refusal.sentence.hasPrefix("layer low (320x180): Main profile (allowed: baseline). "), "\(refusal.sentence)")
    }
}

/// A client that sends one frame of one layer at a time.
private final class SimulcastPublisher {
    let client: TestClient
    /// Packets sent by layer.
    private(set) var numbers: [UInt16]
    /// By layer.
    var sequenceSets: [[UInt8]]

    init?(layerCount: Int, _ gateway: TestGateway) throws {
        client = try TestClient(token: "layers")
        client.rids = (0..<layerCount).map { "\($0)" }
        numbers = Array(repeating: 0, count: layerCount)
        sequenceSets = Array(repeating: TestClient.sequenceSet, count: layerCount)
        guard client.post(to: gateway) == 201, client.connectICE(), try client.connectDTLS() else { return nil }
    }

    private func ssrc(_ layer: Int) -> UInt32 { UInt32(7_000 + layer) }

    func send(_ layer: Int, isKeyframe: Bool = false, isLost: Bool = false) {
        if isKeyframe {
            var aggregate: [UInt8] = [24]
            for set in [sequenceSets[layer], TestClient.pictureSet] { aggregate += [0, UInt8(set.count)] + set }
            send(aggregate, layer, isLost: isLost)
        }
        send([isKeyframe ? 0x65 : 0x41, 0x9A] + [UInt8](repeating: 0x55, count: 100), layer, isLost: isLost)
        client.timestamp &+= 3_000
    }

    private func send(_ payload: [UInt8], _ layer: Int, isLost: Bool) {
        var writer = ByteWriter()
        writer.write(UInt8(0x90))
        writer.write(UInt8(96))
        writer.write(numbers[layer])
        writer.write(client.timestamp)
        writer.write(ssrc(layer))
        writer.write(contentsOf: [0xBE, 0xDE, 0, 1, 0x20, UInt8(ascii: "0") + UInt8(layer), 0, 0])
        numbers[layer] &+= 1
        guard let packet = client.protect(writer.bytes + payload), !isLost else { return }
        client.sendRaw(packet)
    }

    /// How many packets of a layer were asked for, repetitions counted.
    func asked(_ layer: Int) -> Int {
        client.pump()
        var count = 0
        for case .nack(let nack) in client.control where nack.mediaSSRC == ssrc(layer) {
            nack.forEachSequenceNumber { _ in count += 1 }
        }
        return count
    }

    func isKeyframeWanted(of layer: Int) -> Bool {
        client.pump()
        return client.control.contains {
            if case .pictureLoss(let request) = $0 { request.mediaSSRC == ssrc(layer) } else { false }
        }
    }
}
