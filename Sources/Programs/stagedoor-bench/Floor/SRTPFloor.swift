import CShim
import Glibc
import SRTP
import Wire

/// Packets of a 2.5 Mbit/s stream taken by recvmmsg, unprotected by libsrtp, and sent on: a frame's by one call, or, paced,
/// each alone as it comes.
struct SRTPFloor {
    static let profiles: [(name: String, profile: SRTPProfile)] = [
        ("GCM", .aeadAES128GCM), ("AES-CM", .aes128CMSHA1_80),
    ]
    private static let (packetsPerFrame, framesPerSecond, audioPerSecond) = (10, 30, 50)
    private static let (videoByteCount, audioByteCount) = (1_188, 172)
    private static let seconds = 4

    private let profile: SRTPProfile
    private let keys: SRTPKeys

    init(_ profile: SRTPProfile) {
        self.profile = profile
        let count = profile.masterKeyByteCount + profile.masterSaltByteCount
        keys = SRTPKeys(profile: profile, keyAndSalt: Secret((0..<UInt8(count)).map { $0 }))
    }

    /// CPU milliseconds for a second of a stream whose frames come at once.
    func bursts() throws -> Double { try run(burst: Self.packetsPerFrame) }

    /// The same when every packet comes alone.
    func paced() throws -> Double { try run(burst: 1) }

    private func run(burst: Int) throws -> Double {
        let (input, gun) = (try LoopbackPair(isStream: false), DatagramGun(try LoopbackPair(isStream: false)))
        defer { gun.free() }
        var outbound = try SRTPOutbound(keys)
        var inbound = try SRTPInbound(keys)
        guard let batch = unsafe shim_batch_new() else { throw FloorError.system("malloc", errno) }
        defer { unsafe shim_batch_free(batch) }
        var (clock, number) = (FloorClock(), UInt16(0))
        for step in 0..<(Self.seconds * Self.framesPerSecond) {
            let audioDone = step * Self.audioPerSecond / Self.framesPerSecond
            let audioCount = (step + 1) * Self.audioPerSecond / Self.framesPerSecond - audioDone
            for _ in 0..<(Self.packetsPerFrame / burst) {
                try send(Self.videoByteCount, count: burst, over: input, &outbound, &number)
                unsafe receive(batch, input, gun, &inbound, &clock)
            }
            for _ in 0..<audioCount {
                try send(Self.audioByteCount, count: 1, over: input, &outbound, &number)
                unsafe receive(batch, input, gun, &inbound, &clock)
            }
            gun.pair.drainFar()
        }
        return clock.milliseconds / Double(Self.seconds)
    }

    private func send(
        _ byteCount: Int, count: Int, over pair: LoopbackPair, _ outbound: inout SRTPOutbound, _ number: inout UInt16
    ) throws {
        try unsafe withUnsafeTemporaryAllocation(byteCount: byteCount + SRTPOutbound.trailerByteCount, alignment: 8) { packet in
            for _ in 0..<count {
                unsafe packet.initializeMemory(as: UInt8.self, repeating: 0)
                unsafe packet[0] = 0x80
                unsafe packet[1] = 96
                unsafe packet.storeBytes(of: number.bigEndian, toByteOffset: 2, as: UInt16.self)
                number &+= 1
                let protected = try unsafe outbound.protect(packet, count: byteCount)
                unsafe Glibc.send(pair.near, packet.baseAddress, protected, 0)
            }
        }
    }

    private func receive(
        _ batch: OpaquePointer, _ pair: LoopbackPair, _ gun: DatagramGun, _ inbound: inout SRTPInbound, _ clock: inout FloorClock
    ) {
        clock.measure {
            var drops: UInt32 = 0
            let count = unsafe Int(shim_batch_receive(batch, pair.far, &drops))
            guard count > 0, let datagrams = unsafe shim_batch_datagrams(batch) else { return }
            var byteCount = 0
            for index in 0..<count {
                let packet = unsafe UnsafeMutableRawBufferPointer(
                    start: datagrams[index].bytes, count: Int(datagrams[index].count))
                unsafe byteCount += (try? inbound.unprotect(packet)) ?? 0
            }
            gun.send(byteCount: byteCount, segmentSize: count > 1 ? byteCount / count : 0)
        }
    }
}
