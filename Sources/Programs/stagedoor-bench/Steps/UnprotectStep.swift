import SRTP

/// SRTP put on packets of 1,200 bytes and taken off again.
@safe final class UnprotectStep: MediaStep {
    let operations = 355
    private var inbound: SRTPInbound
    private var outbound: SRTPOutbound
    private let packet = UnsafeMutableRawBufferPointer.allocate(byteCount: 1_240, alignment: 16)
    private var number = UInt16(0)

    init(_ profile: SRTPProfile) throws {
        inbound = try SRTPInbound(.agreed(profile))
        outbound = try SRTPOutbound(.agreed(profile))
        unsafe packet.initializeMemory(as: UInt8.self, repeating: 0x5A)
    }

    deinit { unsafe packet.deallocate() }

    /// Both ways, because no packet can be unprotected twice.
    func round() throws {
        for _ in 0..<operations {
            unsafe packet[0] = 0x80
            unsafe packet[1] = 96
            unsafe packet.storeBytes(of: number.bigEndian, toByteOffset: 2, as: UInt16.self)
            number &+= 1
            let count = try unsafe outbound.protect(packet, count: 1_200)
            _ = try unsafe inbound.unprotect(UnsafeMutableRawBufferPointer(rebasing: packet[..<count]))
        }
    }
}
