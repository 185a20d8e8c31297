/// Room for the packets of one access unit, for all writers of a thread: what many share stays in the caches. Confined.
public final class PacketScratch {
    private var packets: [MediaPacket] = []

    public init() {
        packets.reserveCapacity(512)  // the biggest frames measured: 264 packets
    }

    /// Lends the room, empty. Out of the object meanwhile: no checked access to it for every packet.
    @inline(__always)
    func withPackets(_ body: (inout [MediaPacket]) -> Void) {
        var packets = self.packets
        self.packets = []
        packets.removeAll(keepingCapacity: true)
        body(&packets)
        self.packets = packets
    }
}
