import ArgumentParser
import EventLoop
import Foundation
import JWT
import Node
import Store
import Wire

/// Makes and looks at participant tokens, offline.
struct Token: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Mints participant tokens with a key of yours, or explains one.", subcommands: [Mint.self, Inspect.self])
}

extension Token {
    /// Signs with a private key whose public half was imported (ImportPublicKey).
    struct Mint: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Signs a token with a private key of yours.",
            discussion: """
                Refuses, in the words of a gateway, what no gateway would take. What only a gateway knows is left to it: whether \
                it has the stage and the key, and which URLs are its own. A value that begins with - stands behind =: --user=-a.
                """)

        @Option(name: .long, help: "PEM file of the private key, EC P-384; its public half was given to ImportPublicKey.")
        var key: String
        @Option(name: .long, help: "The ARN that ImportPublicKey answered.")
        var keyId: String
        @Option(name: .long, help: "The stage's ARN.")
        var stage: String
        @Option(name: .long, help: "endpoints.events of the stage, as GetStage tells it.")
        var eventsURL: String
        @Option(name: .long, help: "endpoints.whip of the stage, as GetStage tells it.")
        var whipURL: String
        @Option(name: .long, help: "The participant's id; by default a new one.")
        var participant: String?
        @Option(name: .long, help: "A name of yours for the participant, at most 128 characters.")
        var user = ""
        @Option(name: .long, help: "name=value, shown to other participants; may be repeated, 1 KB in all.")
        var attribute: [String] = []
        @Option(name: .long, help: "Minutes for which it is good, 1 to 20160.")
        var minutes = 720
        @Flag(name: .long, help: "The participant may watch but not publish.")
        var subscribeOnly = false

        func validate() throws {
            guard (1...20_160).contains(minutes) else { throw ValidationError("--minutes goes from 1 to 20160 (14 days)") }
            guard user.count <= ParticipantClaims.maximumUserIDLength else { throw ValidationError("--user is too long") }
            if let participant, !ParticipantClaims.isParticipantID(participant) {
                throw ValidationError("--participant takes 1 to 64 letters, digits, - and _")
            }
            guard attribute.allSatisfy({ $0.contains("=") }) else { throw ValidationError("--attribute takes name=value") }
        }

        func run() throws {
            let pem = try Secret(NamedFile.read(key))
            guard let authority = try? TokenAuthority(keyID: keyId, privateKey: pem) else {
                throw ValidationError("--key: \(key) is no private key of EC P-384 in PEM")
            }
            var request = TokenAuthority.Request()
            if let participant { request.participantID = participant }
            (request.userID, request.minutes, request.allowsPublish) = (user, minutes, !subscribeOnly)
            for pair in attribute {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
                request.attributes[parts[0]] = parts[1]
            }
            let endpoints = StageEndpoints(events: eventsURL, whip: whipURL, rtmp: "", rtmps: "")
            let now = EventLoop.wallNow()
            let token = try authority.mint(request, stageARN: stage, endpoints: endpoints, now: now).token
            // A token that every gateway refuses is refused here, in the words of a gateway.
            let faults = TokenInspection(token, now: now).faults
            guard faults.isEmpty else { throw ValidationError(faults.joined(separator: " ")) }
            print(token.revealText())
        }
    }

    /// Prints what a token says and what is wrong with it; fails when a gateway would not take it.
    struct Inspect: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints what a token says; reads it from standard input, so that no shell keeps it.",
            discussion: "Prints what is wrong with it, too, and fails then.")

        @Option(name: .long, help: "PEM file of the public key: the signature is verified too.")
        var key: String?

        func run() throws {
            let token = Secret((readLine() ?? "").trimmingCharacters(in: .whitespaces))
            let publicKey = try key.map { try NamedFile.read($0) }
            let inspection = TokenInspection(token, publicKey: publicKey, now: EventLoop.wallNow())
            for line in inspection.lines + inspection.faults { print(line) }
            if !inspection.faults.isEmpty { throw ExitCode.failure }
        }
    }
}
