import Wire

@testable import Cluster

/// Nodes, the server, and what lies between them.
extension Simulation {
    /// How long a client waits for an answer before its connection counts as dead.
    private static let timeout = 3 * second

    func with(_ node: Int, _ body: (inout NodeMachine) -> [ClusterAction]) {
        guard nodes[node].isAlive else { return }
        perform(body(&nodes[node].machine), at: node)
        let deadline = nodes[node].machine.deadline.nanoseconds
        // An earlier timer that finds nothing to do sets the next one.
        if deadline < nodes[node].timerAt {
            nodes[node].timerAt = max(deadline, now)
            queue.put(.timer(node: node), at: max(deadline, now))
        }
    }

    func timer(_ node: Int) {
        guard nodes[node].timerAt <= now else { return }
        nodes[node].timerAt = .max
        with(node) { $0.timePassed(moment) }
    }

    func connected(_ node: Int) {
        guard !isPaused, !nodes[node].isCut else { return }
        nodes[node].readsSince = now
        with(node) { $0.connected(runID: "one", moment) }
    }

    func ask(_ call: ClusterCall, from node: Int) {
        if nodes[node].isCut {
            queue.put(.answer(node: node, call, nil, sentAt: now), at: now + Self.timeout)
            return
        }
        queue.put(.arrives(node: node, call, sentAt: now), at: latency())
    }

    func arrives(_ node: Int, _ call: ClusterCall, _ sentAt: Int64) {
        if isPaused || nodes[node].isCut {
            // A silent server carries out later what it has in its buffers; nobody waits for the answer any more.
            if isPaused { stalled.append((node, call)) }
            queue.put(.answer(node: node, call, nil, sentAt: sentAt), at: sentAt + Self.timeout)
            return
        }
        let answer = server.carryOut(call, for: nodes[node].machine.settings)
        checkRoom(after: call)
        queue.put(.answer(node: node, call, answer, sentAt: sentAt), at: latency())
    }

    func answered(_ node: Int, _ call: ClusterCall, _ answer: ClusterAnswer?, _ sentAt: Int64) {
        if answer == nil, nodes[node].isAlive { queue.put(.disconnected(node: node), at: now) }
        with(node) { $0.answered(call, answer, sentAt: MonotonicTime(nanoseconds: sentAt), moment) }
    }

    /// One message in a hundred is lost.
    func send(_ message: NodeMessage, to name: String, from node: Int) {
        guard let other = Int(name.dropFirst()), !nodes[node].isCut, !nodes[other].isCut, !isPaused, !chance(of: 100) else {
            return
        }
        queue.put(.message(node: other, message), at: latency())
    }

    // MARK: - What happens

    func happen(_ happening: Happening) {
        report.note("\(happening)")
        switch happening {
        case .kill: for node in nodes.indices where node % 25 == 3 { kill(node) }
        case .cut:
            for node in nodes.indices where node % 5 == 1 {
                nodes[node].isCut = true
                nodes[node].readsSince = .max
                queue.put(.disconnected(node: node), at: now + Self.timeout)
            }
        case .move: moveSome()
        case .heal:
            for node in nodes.indices where nodes[node].isCut {
                nodes[node].isCut = false
                queue.put(.connected(node: node), at: now + within(0, 2))
            }
        case .pause:
            isPaused = true
            for node in nodes.indices {
                nodes[node].readsSince = .max
                queue.put(.disconnected(node: node), at: now + Self.timeout)
            }
        case .resume:
            isPaused = false
            for (node, call) in stalled {
                _ = server.carryOut(call, for: nodes[node].machine.settings)
                checkRoom(after: call)
            }
            stalled = []
            for node in nodes.indices { queue.put(.connected(node: node), at: now + within(0, 2)) }
        }
    }

    /// Its process ends; two in three of its encoders look for another node.
    private func kill(_ node: Int) {
        nodes[node].isAlive = false
        for holder in sessions.keys.filter({ $0.node == node }).sorted() {
            report.killedSessions += 1
            if let encoder = sessions[holder]?.encoder {
                if encoders[encoder].half == nil { leave(encoder, mayGo: true) } else { lostNode(ofJoint: encoder) }
            }
            forget(holder, writes: false)
        }
        for (index, encoder) in encoders.enumerated()
        where encoder.node == node && encoder.half == nil && !encoder.isLive && !encoder.hasGone { leave(index) }
        queue.put(.buried(node: node), at: now + 12 * Self.second)
    }

    /// Some encoders change their network, and come to another node while the old one, cut or not, still waits for them.
    private func moveSome() {
        for (index, holder) in sessions.keys.sorted().enumerated() where index % 20 == 0 {
            guard let encoder = sessions[holder]?.encoder, encoders[encoder].half == nil else { continue }
            sessions[holder]?.encoder = nil
            sessions[holder]?.silentSince = now
            queue.put(.abandoned(holder), at: now + 30 * Self.second)
            leave(encoder)
        }
    }

    /// The encoder looks for another node.
    private func leave(_ encoder: Int, mayGo: Bool = false) {
        encoders[encoder].isLive = false
        lostHalf(encoder)
        encoders[encoder].hasGone = mayGo && chance(of: 3)
        if encoders[encoder].hasGone { return }
        encoders[encoder].node = someNode()
        queue.put(.claim(encoder: encoder, takesOver: false), at: now + within(0, 2))
    }
}
