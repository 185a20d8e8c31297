/// What a player reads before the media segments of a fragmented movie: ftyp and moov (ISO/IEC 14496-12 §8.1, 8.8).
///
///     let start = InitializationSegment(tracks: [video, audio])
///     file.append(start.bytes)
public struct InitializationSegment: Equatable, Sendable {
    /// In the order of the file.
    public var tracks: [MovieTrack]

    /// - Parameter tracks: one at least.
    public init(tracks: [MovieTrack]) { self.tracks = tracks }

    /// The segment's bytes.
    public var bytes: [UInt8] {
        var writer = BoxWriter()
        writer.box("ftyp") { file in
            file.write("iso6")
            file.write(0 as UInt32)
            file.write("iso6")
            file.write("mp41")
        }
        writer.box("moov") { movie in
            movie.movieHeader(nextTrackID: (tracks.map(\.id).max() ?? 0) + 1)
            for track in tracks { movie.box("trak") { $0.track(track) } }
            movie.box("mvex") { extends in
                for track in tracks { extends.trackExtends(track.id) }
            }
        }
        return writer.bytes
    }

    /// What `CODECS` says of it (RFC 6381).
    public var codecs: String { tracks.map(\.description.codecName).joined(separator: ",") }
}

extension BoxWriter {
    /// §8.2.2; how long a movie is that still grows, nobody says.
    fileprivate mutating func movieHeader(nextTrackID: UInt32) {
        fullBox("mvhd") { header in
            header.writeZeros(8)  // creation_time, modification_time
            header.write(1_000 as UInt32)
            header.write(0 as UInt32)
            header.write(0x1_0000 as UInt32)  // rate
            header.write(0x100 as UInt16)  // volume
            header.writeZeros(10)
            header.writeUnityMatrix()
            header.writeZeros(24)
            header.write(nextTrackID)
        }
    }

    fileprivate mutating func track(_ track: MovieTrack) {
        trackHeader(track)
        box("mdia") { media in
            media.fullBox("mdhd") { header in
                header.writeZeros(8)
                header.write(track.timescale)
                header.write(0 as UInt32)
                header.write(0x55C4 as UInt16)  // und
                header.write(0 as UInt16)
            }
            media.handler(isVideo: track.description.isVideo)
            media.box("minf") { $0.mediaInformation(track) }
        }
    }

    /// §8.3.2: enabled, in the movie.
    private mutating func trackHeader(_ track: MovieTrack) {
        fullBox("tkhd", flags: 3) { header in
            header.writeZeros(8)
            header.write(track.id)
            header.writeZeros(4 + 4 + 8)
            header.write(0 as UInt16)  // layer
            header.write(track.description.isVideo ? 0 as UInt16 : 1)  // alternate_group
            header.write(track.description.isVideo ? 0 as UInt16 : 0x100)  // volume
            header.write(0 as UInt16)
            header.writeUnityMatrix()
            guard case .h264(_, let width, let height) = track.description else { return header.writeZeros(8) }
            header.write(UInt32(UInt16(clamping: width)) << 16)
            header.write(UInt32(UInt16(clamping: height)) << 16)
        }
    }

    /// §8.4.3.
    private mutating func handler(isVideo: Bool) {
        fullBox("hdlr") { handler in
            handler.write(0 as UInt32)
            handler.write(isVideo ? "vide" : "soun")
            handler.writeZeros(12)
            handler.write(contentsOf: Array((isVideo ? "VideoHandler" : "SoundHandler").utf8) + [0])
        }
    }

    private mutating func mediaInformation(_ track: MovieTrack) {
        if track.description.isVideo {
            fullBox("vmhd", flags: 1) { $0.writeZeros(8) }
        } else {
            fullBox("smhd") { $0.writeZeros(4) }
        }
        box("dinf") { information in
            information.fullBox("dref") { reference in
                reference.write(1 as UInt32)
                reference.fullBox("url ", flags: 1) { _ in }  // in this very file
            }
        }
        box("stbl") { table in
            table.fullBox("stsd") { description in
                description.write(1 as UInt32)
                description.sampleEntry(track)
            }
            // All samples are in fragments.
            table.fullBox("stts") { $0.write(0 as UInt32) }
            table.fullBox("stsc") { $0.write(0 as UInt32) }
            table.fullBox("stsz") { $0.writeZeros(8) }
            table.fullBox("stco") { $0.write(0 as UInt32) }
        }
    }

    /// §8.8.3.
    fileprivate mutating func trackExtends(_ id: UInt32) {
        fullBox("trex") { extends in
            extends.write(id)
            extends.write(1 as UInt32)  // default_sample_description_index
            extends.writeZeros(12)
        }
    }
}
