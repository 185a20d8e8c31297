import TestSupport
import Testing

/// Real programs against the real program. Each test has ports and folders of its own, and most of its time it waits for media
/// that comes in real time: several go on side by side.
@Suite(.ownThread) struct Interop {}
