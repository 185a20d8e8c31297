import H264
import Wire

/// Makes access units of RTP payloads in order (RFC 6184). A value: what is damaged by a loss is left out and counted.
struct AccessUnitAssembler {
    private(set) var damagedCount = 0
    private var timestamp: Int64?
    private var bytes: [UInt8] = []
    private var hasIDR = false
    private var isDamaged = false
    /// Where the NAL unit that fragments fill begins.
    private var fragmentStart: Int?
    private var sets = ParameterSets()
    /// Those that this unit brought: they are in force only if the unit is whole.
    private var newSets = ParameterSets()

    /// Takes the next packet.
    /// - Returns: at most two units: the one before, when its last packet had no marker, and the one that this packet ends.
    mutating func take(_ packet: PacketOrder.Packet) -> [AccessUnit] {
        var units: [AccessUnit] = []
        if let timestamp, timestamp != packet.timestamp {
            // Its end is not known to have come where packets are missing.
            if packet.followsGap { isDamaged = true }
            if let unit = finish() { units.append(unit) }
        }
        if timestamp == nil {
            timestamp = packet.timestamp
            let begins = unsafe Self.beginsUnit(packet.payload)
            isDamaged = packet.followsGap && !begins
        } else if packet.followsGap {
            isDamaged = true
        }
        if !isDamaged { unsafe append(packet.payload) }
        if packet.marker, let unit = finish() { units.append(unit) }
        return units
    }

    /// What was being put together is given up.
    mutating func restart() {
        (timestamp, isDamaged) = (nil, false)
        clear()
    }

    /// Parameter sets and delimiters stand before everything else of a unit.
    private static func beginsUnit(_ payload: UnsafeRawBufferPointer) -> Bool {
        guard let first = unsafe payload.first else { return false }
        let type = first & 0x1F == 24 && payload.count > 3 ? unsafe payload[3] & 0x1F : first & 0x1F
        return type == 7 || type == 9
    }

    private mutating func append(_ payload: UnsafeRawBufferPointer) {
        do throws(H264Error) {
            switch unsafe try RTPPayload(parsing: payload) {
            case .single(let unit): unsafe append(unit: unit)
            case .aggregation(var units): while let unit = unsafe try units.next() { unsafe append(unit: unit) }
            case .fragment(let fragment): append(fragment)
            }
        } catch {
            isDamaged = true
        }
        if bytes.count > Self.maximumByteCount { isDamaged = true }
    }

    private mutating func append(unit: UnsafeRawBufferPointer) {
        begin(byteCount: unit.count)
        unsafe bytes.append(contentsOf: unit)
        end(at: bytes.count - unit.count - 4)
    }

    private mutating func append(_ fragment: FUAFragment) {
        if fragment.isStart {
            if fragmentStart != nil { isDamaged = true }
            fragmentStart = bytes.count
            begin(byteCount: 0)
            bytes.append(fragment.header.byte)
        }
        guard let start = fragmentStart else { return isDamaged = true }
        unsafe bytes.append(contentsOf: fragment.body)
        guard fragment.isEnd else { return }
        fragmentStart = nil
        let count = UInt32(bytes.count - start - 4)
        for index in 0..<4 { bytes[start + index] = UInt8(truncatingIfNeeded: count >> UInt32(24 - 8 * index)) }
        end(at: start)
    }

    private mutating func begin(byteCount: Int) {
        bytes.append(bigEndian: UInt32(truncatingIfNeeded: byteCount))
    }

    /// A NAL unit is whole; parameter sets stand in the sample entry, not in samples (ISO/IEC 14496-15 §5.4.2). Those that it has
    /// no room for stay, and those that come twice count once.
    private mutating func end(at start: Int) {
        let byteCount = bytes.count - start - 4
        guard byteCount > 0 else { return bytes.removeLast(bytes.count - start) }
        switch NALUnitHeader(bytes[start + 4]).type {
        case .idrSlice: hasIDR = true
        case .sequenceParameterSet where newSets.hasRoom(forSequence: byteCount):
            let set = Array(bytes[(start + 4)...])
            if !newSets.sequence.contains(set) { newSets.sequence.append(set) }
            bytes.removeLast(bytes.count - start)
        case .pictureParameterSet where newSets.hasRoom(forPicture: byteCount):
            let set = Array(bytes[(start + 4)...])
            if !newSets.picture.contains(set) { newSets.picture.append(set) }
            bytes.removeLast(bytes.count - start)
        default: break
        }
    }

    private mutating func finish() -> AccessUnit? {
        defer {
            timestamp = nil
            clear()
        }
        guard let timestamp else { return nil }
        guard !isDamaged, fragmentStart == nil else {
            damagedCount += 1
            return nil
        }
        takeNewSets()
        guard !bytes.isEmpty else { return nil }
        return AccessUnit(timestamp: timestamp, bytes: bytes, isKeyframe: hasIDR, parameterSets: sets)
    }

    private mutating func takeNewSets() {
        if !newSets.sequence.isEmpty {
            sets.sequence = newSets.sequence
            if !newSets.picture.isEmpty { sets.picture = newSets.picture }
        } else {
            for set in newSets.picture where !sets.picture.contains(set) && sets.picture.count < ParameterSets.maximumPictureCount
            {
                sets.picture.append(set)
            }
        }
    }

    private mutating func clear() {
        // The array went with the unit: room for one as long as the last.
        let capacity = bytes.count
        bytes = []
        bytes.reserveCapacity(capacity)
        (newSets, hasIDR, fragmentStart, isDamaged) = (ParameterSets(), false, nil, false)
    }

    /// A picture is left out when it is longer: at 400 Mbit/s none is.
    static let maximumByteCount = 1 << 24
}
