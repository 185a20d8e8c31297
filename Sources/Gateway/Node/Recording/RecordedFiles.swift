import EventLoop
import HTTP
import HTTPServer
import ObjectStorage
import Store

/// What lies in a recording's folder, for the console: from a folder, or through us from a store, which need not know browsers.
/// Confined to the control loop.
final class RecordedFiles {
    /// Whose recording it is, and what of it.
    struct Place: Equatable {
        var stageID: String
        var sessionID: String
        var participantID: String
        /// Below the recording's prefix.
        var folder: String
        /// In that folder. It comes decoded, so that a slash may be in it.
        var name: String

        /// - Parameter taken: the stage, the session, the participant, and a name of that folder.
        init(_ taken: [String], in folder: String) {
            (stageID, sessionID, participantID) = (taken[0], taken[1], taken[2])
            (self.folder, name) = (folder, taken[3])
        }

        /// Below the recording's prefix.
        var file: String { "\(folder)/\(name)" }

        /// Nil for a name that no file of a recording has.
        var contentType: String? {
            let types = [
                "m3u8": "application/vnd.apple.mpegurl", "mp4": "video/mp4", "jpg": "image/jpeg", "json": "application/json",
            ]
            guard name.allSatisfy({ $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == ".") }) else { return nil }
            return name.split(separator: ".").last.flatMap { types[String($0)] }
        }
    }

    private let store: any GatewayStore
    private let names: ResourceName
    private let uploads: Uploads
    private let history: StoreClient
    private let replies: ReplyBox

    /// - Throws: when the system gives no more descriptors.
    init(loop: EventLoop, store: any GatewayStore, names: ResourceName, uploads: Uploads) throws(SystemError) {
        (self.store, self.names, self.uploads) = (store, names, uploads)
        history = try StoreClient(loop: loop, store: store)
        replies = try ReplyBox(loop: loop)
    }

    func answer(_ place: Place, _ exchange: HTTPExchange) {
        guard let type = place.contentType else { return exchange.respond(Self.nothing("There is no such file.")) }
        let participant = SessionParticipant(
            place.participantID, ofStage: store.state.stageARN(ofID: place.stageID, names: names), sessionID: place.sessionID)
        history.read {
            try $0.participant(participant)?.recording
        } then: { [unowned self] (recording: ParticipantRecording??) in
            guard let recording = recording ?? nil, !recording.prefix.isEmpty else {
                return exchange.respond(Self.nothing("This participant is not recorded."))
            }
            read(place.file, of: recording, type, exchange)
        }
    }

    private func read(_ file: String, of recording: ParticipantRecording, _ type: String, _ exchange: HTTPExchange) {
        exchange.waits(for: Uploads.longestRead)
        replies.ask { [uploads] reply in
            uploads.read("\(recording.prefix)/\(file)", from: recording.bucketName) { reply($0) }
        } then: { (result: Result<[UInt8], StorageFault>?) in
            exchange.respond(Self.response(result, type))
        }
    }

    static func response(_ result: Result<[UInt8], StorageFault>?, _ type: String) -> HTTPResponse {
        switch result {
        case .success(let bytes):
            // Segments never change, but those of the participant's next recording have the same URLs.
            return HTTPResponse(.ok, headers: ["Content-Type": type, "Cache-Control": "no-store"], body: bytes)
        case .failure(.refused(let words)): return nothing("It cannot be read: \(words).")
        case .failure(.transient(let words)):
            return ProblemDocument(.serviceUnavailable, detail: "It cannot be read now: \(words).").response()
        case nil: return ProblemDocument(.serviceUnavailable, detail: "Too much is being read.").response()
        }
    }

    private static func nothing(_ words: String) -> HTTPResponse { ProblemDocument(.notFound, detail: words).response() }
}
