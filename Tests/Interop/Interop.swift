import Testing

/// Everything here starts real programs that need the machine for themselves: one at a time.
@Suite(.serialized, .secondTry) struct Interop {}
