import Foundation
import TestSupport
import Testing

/// What holds under load: losses of many streams, CPU time, wake-ups. A machine that others use spoils such figures, so `make
/// soak` judges them, one at a time; `make test` asserts what happens, whatever the machine does beside it.
@Suite(.serialized, .ownThread, .enabled(if: Soak.isAsked, Soak.reason)) struct UnderLoad {}

/// A run on a quiet machine, where time may be judged.
enum Soak {
    static let isAsked = ProcessInfo.processInfo.environment["STAGEDOOR_UNDER_LOAD"] != nil
    static let reason: Comment = "judged on a quiet machine: run `make soak`"
}
