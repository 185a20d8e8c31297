extension Mailbox {
    /// Asks somebody who may answer at once, on this thread, or later from any other one.
    ///
    /// A first answer that comes while `ask` runs is received as soon as `ask` returns, without a turn of the loop; all others
    /// come as messages do.
    /// - Parameter ask: called at once, with what to answer by; that tells whether the answer will be received.
    public func ask(_ ask: (_ answer: @escaping @Sendable (Message) -> Bool) -> Void) {
        let prompt = Lock(PromptAnswer<Message>.awaited)
        ask { [sender] message in
            let isPrompt = prompt.withLock { prompt in
                guard case .awaited = prompt else { return false }
                prompt = .given(message)
                return true
            }
            return isPrompt || sender.send(message)
        }
        let answer = prompt.withLock { prompt in
            defer { prompt = .over }
            return prompt
        }
        if case .given(let message) = answer { receive(message) }
    }
}

/// What has become of a question by the time that asking returns.
private enum PromptAnswer<Message: Sendable>: Sendable {
    case awaited
    case given(Message)
    case over
}
