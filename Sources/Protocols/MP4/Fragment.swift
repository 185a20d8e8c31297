/// One movie fragment and its media (ISO/IEC 14496-12 §8.8.4): a part of a segment that can be decoded as soon as it is there.
///
///     var fragment = Fragment(sequenceNumber: 7)
///     fragment.runs = [Fragment.Run(trackID: 1, decodeTime: 900_000)]
///     fragment.runs[0].append(Fragment.Sample(duration: 3_000, byteCount: picture.count), picture)
///     file.append(Fragment.segmentType)  // before a segment's first one
///     for part in fragment.parts { file.append(part) }
public struct Fragment: Equatable, Sendable {
    /// Rises from fragment to fragment (§8.8.5).
    public var sequenceNumber: UInt32
    /// One for each track that has something in it.
    public var runs: [Run] = []

    /// Samples of one track that follow one another.
    public struct Run: Equatable, Sendable {
        /// Whose samples these are.
        public var trackID: UInt32
        /// Of the first sample, in ticks of the track (tfdt §8.8.12).
        public var decodeTime: UInt64
        /// In decoding order.
        public var samples: [Sample]
        /// Of all samples, one behind the other.
        public private(set) var media: [UInt8]

        /// - Parameter media: as long as all samples together.
        public init(trackID: UInt32, decodeTime: UInt64, samples: [Sample] = [], media: [UInt8] = []) {
            (self.trackID, self.decodeTime, self.samples, self.media) = (trackID, decodeTime, samples, media)
        }

        /// - Parameter bytes: as many as the sample says.
        public mutating func append(_ sample: Sample, _ bytes: [UInt8]) {
            samples.append(sample)
            media += bytes
        }
    }

    /// One access unit of video, or one frame of audio.
    public struct Sample: Equatable, Sendable {
        /// To the next sample, in ticks.
        public var duration: UInt32
        public var byteCount: Int
        /// A decoder can start here.
        public var isSync: Bool
        /// How much later than decoded it is shown, in ticks; negative where frames are reordered.
        public var compositionOffset: Int32

        /// - Parameter duration: ticks to the next sample.
        public init(duration: UInt32, byteCount: Int, isSync: Bool = true, compositionOffset: Int32 = 0) {
            (self.duration, self.byteCount) = (duration, byteCount)
            (self.isSync, self.compositionOffset) = (isSync, compositionOffset)
        }
    }

    /// Without samples.
    public init(sequenceNumber: UInt32) { self.sequenceNumber = sequenceNumber }

    /// Whoever fills fragments ends them before: half a gibibyte is ten seconds at 400 Mbit/s.
    public static let maximumByteCount = 1 << 29

    /// The box that begins a media segment (§8.16.2).
    public static var segmentType: [UInt8] {
        var writer = BoxWriter(reserving: 24)
        writer.box("styp") { type in
            type.write("msdh")
            type.write(0 as UInt32)
            type.write("msdh")
            type.write("msix")
        }
        return writer.bytes
    }

    /// moof and mdat: the boxes' heads, and each run's media as it is.
    public var parts: [[UInt8]] { [head] + runs.map(\.media) }

    private var head: [UInt8] {
        let mediaCount = runs.reduce(0) { $0 + $1.media.count }
        precondition(mediaCount <= Self.maximumByteCount, "the segmenter ends fragments far below it")
        var writer = BoxWriter(reserving: 256 + 16 * runs.reduce(0) { $0 + $1.samples.count })
        var offsetPlaces: [Int] = []
        writer.box("moof") { moof in
            moof.fullBox("mfhd") { $0.write(sequenceNumber) }
            for run in runs { moof.box("traf") { offsetPlaces.append($0.trackFragment(run)) } }
        }
        writer.write(UInt32(8 + mediaCount))
        writer.write("mdat")
        var offset = writer.bytes.count
        for (place, run) in zip(offsetPlaces, runs) {
            writer.patch(UInt32(offset), at: place)
            offset += run.media.count
        }
        return writer.bytes
    }
}

extension BoxWriter {
    /// - Returns: where the offset of the run's data has to be filled in, counted from the moof.
    fileprivate mutating func trackFragment(_ run: Fragment.Run) -> Int {
        let areAllSync = run.samples.allSatisfy(\.isSync)
        // default-base-is-moof; where all samples are alike, their flags stand here (§8.8.7).
        fullBox("tfhd", flags: areAllSync ? 0x02_0020 : 0x02_0000) { header in
            header.write(run.trackID)
            if areAllSync { header.write(sampleFlags(isSync: true)) }
        }
        fullBox("tfdt", version: 1) { $0.write(run.decodeTime) }
        return trackRun(run, hasFlags: !areAllSync)
    }

    /// §8.8.8.
    private mutating func trackRun(_ run: Fragment.Run, hasFlags: Bool) -> Int {
        let hasOffsets = run.samples.contains { $0.compositionOffset != 0 }
        let flags: UInt32 = 0x301 | (hasFlags ? 0x400 : 0) | (hasOffsets ? 0x800 : 0)
        var place = 0
        fullBox("trun", version: 1, flags: flags) { trun in
            trun.write(UInt32(run.samples.count))
            place = trun.bytes.count
            trun.write(0 as UInt32)
            for sample in run.samples {
                trun.write(sample.duration)
                trun.write(UInt32(clamping: sample.byteCount))
                if hasFlags { trun.write(sampleFlags(isSync: sample.isSync)) }
                if hasOffsets { trun.write(sample.compositionOffset) }
            }
        }
        return place
    }
}

/// §8.8.3.1: depends on no other sample, or on some and is no sync sample.
private func sampleFlags(isSync: Bool) -> UInt32 { isSync ? 0x0200_0000 : 0x0101_0000 }
