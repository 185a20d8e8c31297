import Foundation
import Testing

/// What an encoder reads by a pipe: a clip again and again, until a test has it break the media contract (Clients/feed.py).
final class Feed {
    /// To be read once.
    let path: String
    private let run: ProgramRun

    /// With B-frames.
    private static let breach = ContractClip(
        "B-frames",
        ContractClip.picture("320x180") + ContractClip.sound() + ContractClip.x264(["-profile:v", "main", "-bf", "2"])
            + ContractClip.aac)

    /// - Parameter isMarked: so that a router knows this encoder's pictures from another one's (`StageRouter.Participant.turns`).
    init(_ clip: Clip, isMarked: Bool = false) throws {
        path = Workspace.temporaryFile(suffix: ".fifo").path
        try #require(mkfifo(path, 0o600) == 0)
        let script = Workspace.package.appending(path: "Tests/Interop/Clients/feed.py").path
        run = try ProgramRun(
            ["/usr/bin/python3", script, try clip.file(), try Self.breach.file().path, path] + (isMarked ? ["--marked"] : []))
    }

    /// From now on what it brings breaks the contract.
    func breach() { run.send(SIGUSR1) }
}
