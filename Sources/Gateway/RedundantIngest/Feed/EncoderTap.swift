import EventLoop
import Refusals
import StageHub
import Wire

/// One encoder's way to its participant: copies each run once into blocks. Confined to the encoder's worker, which never waits.
final class EncoderTap: MediaSink {
    let feed: EncoderFeed
    /// It keeps its observers until it ends, and so outlives this.
    private unowned let publication: Publication
    private var (pictures, sound) = (FeedBlockPool.ofPictures, FeedBlockPool.ofSound)
    /// A bit for each track of which something has become known since its last run.
    private var changed: UInt8 = 0
    private var hasLost = false

    init(_ feed: EncoderFeed, of publication: Publication) { (self.feed, self.publication) = (feed, publication) }

    func forward(_ packets: UnsafeBufferPointer<MediaPacket>, of run: MediaRun) {
        var start = 0
        while start < packets.count {
            guard let block = unsafe take(for: packets[start], of: run) else {
                hasLost = true
                break
            }
            let part = MediaRun(track: run.track, isKeyframe: run.isKeyframe && start == 0, arrival: run.arrival)
            let untold = changed
            let count = unsafe block.fill(packets[start...], of: part, news: takeNews(), followsLoss: hasLost)
            guard count > 0 else {
                // The block goes nowhere: what is new waits for the next one.
                (changed, hasLost) = (untold, true)
                break
            }
            feed.push(block)
            hasLost = false
            start += count
        }
        feed.wake()
    }

    /// Opus of RTMP may be longer than a block of sound.
    private func take(for packet: MediaPacket, of run: MediaRun) -> FeedBlock? {
        let isLong = run.track.kind == .video || packet.payloadByteCount > FeedBlock.sizeForSound
        return isLong ? pictures.take(at: run.arrival) : sound.take(at: run.arrival)
    }

    /// Of all tracks, with whichever run comes first: routers are announced all layers together.
    private func takeNews() -> [FeedBlock.News] {
        guard changed != 0 else { return [] }
        defer { changed = 0 }
        let tracks = Set(publication.formats.keys).union(publication.layers.map(\.track))
        return tracks.filter { changed & Self.bit(of: $0) != 0 }.map { track in
            FeedBlock.News(
                track: track, format: publication.formats[track], layer: publication.layers.first { $0.track == track })
        }
    }

    private static func bit(of track: TrackID) -> UInt8 { track.kind == .audio ? 1 << 7 : 1 << min(track.layer, 6) }

    func formatChanged(_ track: TrackID, to format: TrackFormat) { changed |= Self.bit(of: track) }
    func layersChanged() { for layer in publication.layers { changed |= Self.bit(of: layer.track) } }
    func ended(_ reason: SessionEnd) { feed.end(reason) }
}
