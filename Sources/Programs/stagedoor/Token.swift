import ArgumentParser
import EventLoop
import Foundation
import Store
import Wire

/// Participant tokens without a server: mints them with a key pair of one's own, and says what is in one.
struct Token: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Mints and inspects participant tokens, offline.", subcommands: [Mint.self, Inspect.self])

    struct Mint: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Signs a participant token; prints it.")

        @Option(name: .long, help: "The private key: a PEM file, EC P-384.")
        var key: String
        @Option(name: .long, help: "The ARN that ImportPublicKey gave the public half.")
        var keyID: String
        @Option(name: .long, help: "The stage's ARN.")
        var stage: String
        @Option(name: .long, help: "The stage's events endpoint, from GetStage.")
        var eventsURL: String
        @Option(name: .long, help: "The stage's WHIP endpoint, from GetStage.")
        var whipURL: String
        @Option(name: .long, help: "The participant's id; a random one without it.")
        var participant: String?
        @Option(name: .long, help: "What the application calls the user.")
        var userID = ""
        @Option(name: .long, help: "NAME=VALUE, shown to everybody on the stage; may be repeated.")
        var attribute: [String] = []
        @Option(name: .long, help: "How long the token is good: 1 to 20160 minutes.")
        var minutes = 720
        @Flag(name: .long, help: "Without the right to publish.")
        var subscribeOnly = false

        func run() throws {
            guard (1...20_160).contains(minutes) else { throw ValidationError("--minutes must be from 1 to 20160.") }
            let pem = Secret([UInt8](try Data(contentsOf: URL(filePath: key))))
            let authority = try TokenAuthority(keyID: keyID, privateKey: pem)
            var request = TokenAuthority.Request(participantID: participant ?? Identifier.resource())
            (request.userID, request.minutes, request.allowsPublish) = (userID, minutes, !subscribeOnly)
            for pair in attribute {
                guard let equals = pair.firstIndex(of: "=") else { throw ValidationError("--attribute takes NAME=VALUE.") }
                request.attributes[String(pair[..<equals])] = String(pair[pair.index(after: equals)...])
            }
            let endpoints = StageEndpoints(events: eventsURL, whip: whipURL, rtmp: "", rtmps: "")
            let minted = try authority.mint(request, stageARN: stage, endpoints: endpoints, now: EventLoop.wallNow())
            print(minted.token.revealText())
        }
    }

    struct Inspect: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Prints what a token says and what is wrong with it; fails if anything is.")

        @Argument(help: "The token; read from standard input without it, so that no shell history keeps it.")
        var token: String?
        @Option(name: .long, help: "A public key (PEM) to verify the signature with.")
        var publicKey: String?

        func run() throws {
            let text = (token ?? readLine() ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
            let pem = try publicKey.map { [UInt8](try Data(contentsOf: URL(filePath: $0))) }
            let inspection = TokenInspection(Secret(text), publicKey: pem, now: EventLoop.wallNow())
            for line in inspection.lines + inspection.faults.map({ "FAULT: \($0)" }) { print(line) }
            if !inspection.faults.isEmpty { throw ExitCode.failure }
        }
    }
}
