// fuzz: module=SRTP
import SRTP
import Wire

/// Any datagram as one of a peer's, which it is not; and as a packet that we protect: what the peer makes of it is what it was.
enum SRTPFuzz {
    private static let maximumLength = 2_048

    static func run(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count <= maximumLength else { return }
        for profile in SRTPProfile.allCases { try? pass(bytes, profile) }
    }

    private static func pass(_ bytes: UnsafeRawBufferPointer, _ profile: SRTPProfile) throws(SRTPError) {
        let keyLength = profile.masterKeyByteCount + profile.masterSaltByteCount
        let keys = SRTPKeys(profile: profile, keyAndSalt: Secret([UInt8](repeating: 7, count: keyLength)))
        var inbound = try SRTPInbound(keys)
        var outbound = try SRTPOutbound(keys)
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: bytes.count + SRTPOutbound.trailerByteCount, alignment: 8)
        defer { buffer.deallocate() }
        buffer.copyMemory(from: bytes)
        _ = try? inbound.unprotect(UnsafeMutableRawBufferPointer(rebasing: buffer[..<bytes.count]))
        buffer.copyMemory(from: bytes)
        _ = try? inbound.unprotectControl(UnsafeMutableRawBufferPointer(rebasing: buffer[..<bytes.count]))
        buffer.copyMemory(from: bytes)
        if let count = try? outbound.protect(buffer, count: bytes.count),
            let plain = try? inbound.unprotect(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
        {
            precondition(buffer[..<plain].elementsEqual(bytes), "a packet changed on its way")
        }
        buffer.copyMemory(from: bytes)
        if let count = try? outbound.protectControl(buffer, count: bytes.count),
            let plain = try? inbound.unprotectControl(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]))
        {
            precondition(buffer[..<plain].elementsEqual(bytes), "a compound changed on its way")
        }
    }
}
