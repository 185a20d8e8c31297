/// Which of a publication's layers goes on where one can be taken: to routers without layers, to each viewer. A value.
///
/// A layer is left for another one at a keyframe of that one. Then the owner's `TrackNumbering.change` lets numbers and
/// timestamps go on, and decoders notice nothing but the size.
///
///     switch layers.passage(of: run) {
///     case .rests: return
///     case .goesOn: break
///     case .begins(let former?): numbering.change(shift: timeline.shift(from: former, to: run.track))
///     case .begins(nil): break
///     }
public struct LayerSwitch: Sendable {
    /// What becomes of a run.
    public enum Passage: Equatable, Sendable {
        case rests, goesOn
        /// With the first packet of a keyframe; `after` is the layer before it, nil when there was none.
        case begins(after: TrackID?)
    }

    /// The layer whose runs go on; it may be without its keyframe still.
    public private(set) var current: TrackID?
    /// The one that ought to.
    public private(set) var target: TrackID?
    private var awaitsKeyframe: Bool

    /// - Parameter flowing: the layer that goes on from wherever it is; without, the target's next keyframe begins.
    public init(_ flowing: TrackID? = nil) { (current, target, awaitsKeyframe) = (flowing, flowing, flowing == nil) }

    /// Another layer is wanted from its next keyframe on; nil wants none, and what flows goes on.
    public mutating func aim(at track: TrackID?) { target = track }

    /// Pictures are missing: the target's next keyframe begins anew.
    public mutating func awaitKeyframe() { awaitsKeyframe = true }

    /// The layer whose packets go out now; nil while a keyframe is waited for.
    public var flowing: TrackID? { awaitsKeyframe ? nil : current }

    /// Whose keyframe is waited for; nil while what is wanted flows.
    public var wanted: TrackID? { awaitsKeyframe || current != target ? target : nil }

    /// - Parameter run: of video.
    public mutating func passage(of run: MediaRun) -> Passage {
        if run.track == target, run.isKeyframe, awaitsKeyframe || current != target {
            defer { (current, awaitsKeyframe) = (run.track, false) }
            return current == run.track ? .goesOn : .begins(after: current)
        }
        return run.track == current && !awaitsKeyframe ? .goesOn : .rests
    }
}
