import Foundation

/// What `stagedoor serve --quickstart` writes once every listener accepts; a member whose feature does not exist is absent.
struct Quickstart: Decodable {
    var rtmpURL: String
    var rtmpsURL: String?
    var streamKey: String
    var participantId: String
    var adminURL: String?
    var caCertificate: String?
    var whipURL: String?
    var whipToken: String?
    var whipParticipantId: String?
    var accessKeyId: String?
    var secretAccessKey: String?
    var region: String?
    var stageArn: String?
    var stageId: String?
    var watchURL: String?

    /// What must never be seen in a log, a metric or an error text.
    var secrets: [String] {
        [streamKey, whipToken, secretAccessKey, watchURL?.split(separator: "=").last.map(String.init)].compactMap { $0 }
    }
    var publishURL: String { "\(rtmpURL)/\(streamKey)" }
}
