import Foundation
import Testing

/// OBS Studio without a screen, streaming as soon as it has started: Xvfb shows it a display, Mesa draws in software.
final class OBS {
    /// What the output page of its settings holds for x264.
    enum EncoderSettings: String {
        /// Nobody has touched them: High, 2 B-frames, a keyframe every 250 frames.
        case untouched = "{}"
        /// As our sentences tell.
        case mended = """
            {"rate_control": "CBR", "bitrate": 1500, "keyint_sec": 2, "preset": "veryfast", "profile": "baseline", "bf": 0}
            """
    }

    /// Where its settings come from.
    enum Setup {
        case byHand(EncoderSettings)
        /// Multitrack Video is on, and this JSON stands in Config Override; everything else is as OBS begins.
        case override(String)
        /// It asks this address by `--config-url`, for service Amazon IVS.
        case asking(String)
    }

    private let display: ProgramRun
    private let run: ProgramRun

    /// Its log.
    var output: String { run.output }
    var isRunning: Bool { run.isRunning }

    convenience init(to server: String, key: String, settings: EncoderSettings, trusting authority: String? = nil) throws {
        try self.init(to: server, key: key, .byHand(settings), trusting: authority)
    }

    /// - Parameter authority: a certificate file that it trusts, for RTMPS.
    init(to server: String, key: String, _ setup: Setup, trusting authority: String? = nil) throws {
        let home = Workspace.temporaryFile(suffix: ".obs")
        try Self.configure(home, server: server, key: key, setup)
        display = try ProgramRun(
            Forky.command(["Xvfb", "-displayfd", "1", "-screen", "0", "1024x600x24", "+extension", "GLX", "-nolisten", "tcp"]))
        var number: Int?
        expect("a display", within: .seconds(60)) { [display] in
            number = display.output.split(separator: "\n").compactMap { Int($0) }.first
            return number != nil
        }
        let environment = [
            "HOME=\(home.path)", "XDG_CONFIG_HOME=\(home.path)/.config", "XDG_RUNTIME_DIR=\(home.path)/run",
            "DISPLAY=:\(try #require(number, "\(display.output)"))", "LIBGL_ALWAYS_SOFTWARE=1", "QT_QPA_PLATFORM=xcb",
            "LC_ALL=C.UTF-8",
        ]
        let options = [
            "--startstreaming", "--profile", "stagedoor", "--collection", "stagedoor", "--multi", "--minimize-to-tray",
            "--disable-shutdown-check", "--disable-updater", "--disable-missing-files-check", "--verbose",
        ]
        let more = if case .asking(let url) = setup { ["--config-url", url] } else { [String]() }
        run = try ProgramRun(Forky.command(["env"] + environment + ["obs"] + options + more, trusting: authority))
    }

    /// Ends it as a crash would: a dialog waits for its user.
    func kill() { run.kill() }

    /// Ends the stream and the program as its user would; the exit status, nil when it hangs.
    func stop() -> Int32? { run.interrupt(within: .seconds(60)) }

    private static func configure(_ home: URL, server: String, key: String, _ setup: Setup) throws {
        let files = FileManager.default
        let configuration = home.appending(path: ".config/obs-studio")
        try files.createDirectory(at: home.appending(path: ".config"), withIntermediateDirectories: true)
        try files.createDirectory(
            at: home.appending(path: "run"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        try files.copyItem(at: Workspace.package.appending(path: "Tests/Interop/Clients/obs-studio"), to: configuration)
        try files.copyItem(atPath: Clip.p30.file(), toPath: home.appending(path: "input.flv").path)
        let scene = configuration.appending(path: "basic/scenes/stagedoor.json")
        try String(contentsOf: scene, encoding: .utf8).replacing("@HOME@", with: home.path)
            .write(to: scene, atomically: true, encoding: .utf8)
        let profile = configuration.appending(path: "basic/profiles/stagedoor")
        try setup.encoderSettings.rawValue.write(
            to: profile.appending(path: "streamEncoder.json"), atomically: true, encoding: .utf8)
        let basic = profile.appending(path: "basic.ini")
        try (String(contentsOf: basic, encoding: .utf8) + setup.profileLines).write(to: basic, atomically: true, encoding: .utf8)
        try setup.service(server: server, key: key)
            .write(to: profile.appending(path: "service.json"), atomically: true, encoding: .utf8)
    }
}

extension OBS.Setup {
    fileprivate var encoderSettings: OBS.EncoderSettings { if case .byHand(let settings) = self { settings } else { .untouched } }

    /// What follows in the profile.
    fileprivate var profileLines: String {
        switch self {
        case .byHand: return ""
        case .asking: return "\n[Stream1]\nEnableMultitrackVideo=true\n"
        case .override(let json):
            // A text in JSON in a line of the file, which doubles backslashes once more; the JSON itself has none.
            let text = json.replacing("\"", with: #"\\""#)
            return """

                [Stream1]
                EnableMultitrackVideo=true
                MultitrackVideoConfigOverrideEnabled=true
                MultitrackVideoConfigOverride={"text":"\(text)"}

                """
        }
    }

    fileprivate func service(server: String, key: String) -> String {
        guard case .asking = self else {
            return #"{"type": "rtmp_custom", "settings": {"server": "\#(server)", "key": "\#(key)", "use_auth": false}}"#
        }
        return #"{"type": "rtmp_common", "settings": {"service": "Amazon IVS", "server": "auto-rtmp", "key": "\#(key)"}}"#
    }
}
