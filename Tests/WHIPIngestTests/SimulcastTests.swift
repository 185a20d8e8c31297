import RTCP
import SDP
import Testing
import Wire

@testable import WHIPIngest

/// RFC 8853 on real sockets: layers told apart by their RIDs (RFC 8852), as OBS 32 sends them.
@Suite("Simulcast on the wire", .timeLimit(.minutes(10)))
struct SimulcastTests {
    @Test(arguments: 1...3)
    func `all layers are accepted, one goes on, and the others are neither forwarded nor asked for`(_ count: Int) throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let publisher = try #require(try SimulcastPublisher(layerCount: count, gateway))
        let accepted = publisher.client.answer?.media[1].attributes.first(Simulcast.self)?.receive
        #expect(accepted?.count == count)
        for _ in 0..<20 {
            for layer in 0..<count { publisher.send(layer, isKeyframe: publisher.numbers[layer] == 0) }
        }
        #expect(eventually { gateway.output["layers"]?.video.count == 21 }, "\(gateway.output["layers"]?.video.count ?? 0)")
        #expect(gateway.output["layers"]?.keyframes == 1)
        // A gap in every layer: asked for is that of the first, again and again, for nobody answers.
        for layer in 0..<count {
            publisher.send(layer, isLost: true)
            for _ in 0..<5 { publisher.send(layer) }
        }
        #expect(eventually { publisher.asked(0) >= 2 })
        for layer in 1..<max(1, count) where layer < count { #expect(publisher.asked(layer) == 0) }
        #expect(gateway.output["layers"].map { Set($0.video).count == $0.video.count } == true)
    }

    @Test func `when the largest layer falls silent the next one goes on at its keyframe, with numbers that continue`() throws {
        let gateway = try TestGateway()
        defer { gateway.stop() }
        let publisher = try #require(try SimulcastPublisher(layerCount: 3, gateway))
        for layer in 0..<3 { publisher.send(layer, isKeyframe: true) }
        #expect(eventually { gateway.output["layers"]?.video.count == 2 })
        // Layer 0 is silent from here on; the next one alive is asked for a keyframe.
        #expect(
            eventually {
                publisher.send(1)
                publisher.send(2)
                return publisher.isKeyframeWanted(of: 1)
            })
        publisher.send(1, isKeyframe: true)
        publisher.send(1)
        #expect(eventually { gateway.output["layers"]?.video.count == 5 })
        let numbers = gateway.output["layers"]?.video ?? []
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $1 == $0 + 1 }, "\(numbers)")
    }
}

/// A client that sends one frame of one layer at a time.
private final class SimulcastPublisher {
    let client: TestClient
    /// Packets sent by layer.
    private(set) var numbers: [UInt16]

    init?(layerCount: Int, _ gateway: TestGateway) throws {
        client = try TestClient(token: "layers")
        client.rids = (0..<layerCount).map { "\($0)" }
        numbers = Array(repeating: 0, count: layerCount)
        guard client.post(to: gateway) == 201, client.connectICE(), try client.connectDTLS() else { return nil }
    }

    private func ssrc(_ layer: Int) -> UInt32 { UInt32(7_000 + layer) }

    func send(_ layer: Int, isKeyframe: Bool = false, isLost: Bool = false) {
        if isKeyframe {
            var aggregate: [UInt8] = [24]
            for set in [TestClient.sequenceSet, TestClient.pictureSet] { aggregate += [0, UInt8(set.count)] + set }
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
