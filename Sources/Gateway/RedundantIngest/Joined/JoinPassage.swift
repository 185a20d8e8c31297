import Admission
import EventLoop
package import StageHub

/// Two encoders and the publication that both are, the first one the source: what joining them costs, for the benchmark's steps.
package final class JoinPassage {
    private let sources: [EncoderSource]
    private let output: JoinedOutput

    package init(_ encoders: [Publication], joined: Publication) {
        let inbox = JoinInbox(wakeUp: .media)
        sources = encoders.enumerated().map { index, publication in
            let feed = EncoderFeed(
                encoder: index + 1, of: publication, joining: ParticipantKey("joined", onStage: "s"), to: inbox)
            publication.add(EncoderTap(feed, of: publication))
            return EncoderSource(feed)
        }
        output = JoinedOutput(joined)
        output.begin(sources[0])
    }

    package func read() { for source in sources { source.drain(into: source.encoder == 1 ? output : nil) } }
}
