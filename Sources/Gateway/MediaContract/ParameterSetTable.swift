import H264

/// The parameter sets that a stream has sent, by id: 32 and 256 at most, as the specification numbers them.
struct ParameterSetTable {
    private var sequenceSets: [SequenceParameterSet?] = []
    private var pictureSets: [PictureParameterSet?] = []
    /// Rises when a set changes; sets sent again as they were do not count.
    private(set) var generation = 0

    /// Takes in one NAL unit of type 7 or 8; one that cannot be read changes nothing.
    mutating func add(_ nalUnit: RawSpan, type: NALUnitType) {
        if type == .sequenceParameterSet {
            if let set = try? SequenceParameterSet(parsing: nalUnit) { add(set) }
        } else if let set = try? PictureParameterSet(parsing: nalUnit) {
            add(set)
        }
    }

    private mutating func add(_ set: SequenceParameterSet) {
        let index = Int(set.id)
        while sequenceSets.count <= index { sequenceSets.append(nil) }
        guard sequenceSets[index] != set else { return }
        sequenceSets[index] = set
        generation += 1
    }

    private mutating func add(_ set: PictureParameterSet) {
        let index = Int(set.id)
        while pictureSets.count <= index { pictureSets.append(nil) }
        guard pictureSets[index] != set else { return }
        pictureSets[index] = set
        generation += 1
    }

    /// Both sets of a slice; nil while one has not come.
    func sets(ofPicture id: UInt8) -> (SequenceParameterSet, PictureParameterSet)? {
        guard Int(id) < pictureSets.count, let picture = pictureSets[Int(id)],
            Int(picture.sequenceParameterSetID) < sequenceSets.count,
            let sequence = sequenceSets[Int(picture.sequenceParameterSetID)]
        else { return nil }
        return (sequence, picture)
    }
}
