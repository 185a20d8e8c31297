/// A byte stream of H.264 (Annex B) cut into access units.
public enum AnnexB {
    public struct AccessUnit {
        public var nalUnits: [[UInt8]] = []
        public var isKeyframe: Bool { nalUnits.contains { $0[0] & 0x1F == 5 } }
    }

    /// Cut where a picture or what stands before it begins.
    public static func accessUnits(_ bytes: [UInt8]) -> [AccessUnit] {
        var units = [AccessUnit()]
        var hasPicture = false
        for nalUnit in nalUnits(bytes) {
            let isSlice = [1, 5].contains(nalUnit[0] & 0x1F)
            let startsPicture = isSlice && nalUnit[1] & 0x80 != 0  // first_mb_in_slice is 0
            if hasPicture, startsPicture || !isSlice {
                units.append(AccessUnit())
                hasPicture = false
            }
            hasPicture = hasPicture || isSlice
            units[units.count - 1].nalUnits.append(nalUnit)
        }
        return units
    }

    /// What stands between start codes, trailing zeros left out.
    public static func nalUnits(_ bytes: [UInt8]) -> [[UInt8]] {
        var starts: [Int] = []
        for index in 0..<(bytes.count - 3) where bytes[index] == 0 && bytes[index + 1] == 0 && bytes[index + 2] == 1 {
            starts.append(index + 3)
        }
        return starts.enumerated().map { position, start in
            var end = position + 1 < starts.count ? starts[position + 1] - 3 : bytes.count
            while end > start, bytes[end - 1] == 0 { end -= 1 }
            return Array(bytes[start..<end])
        }
    }
}
