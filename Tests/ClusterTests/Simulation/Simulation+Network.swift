import TestSupport
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
        // Once a server goes on that had stopped, it takes what connects; to one that was silent all come again.
        if isPaused, isHeld { return queue.put(.connected(node: node), at: now + Self.second / 4) }
        guard !isPaused, !nodes[node].isCut else { return }
        (nodes[node].readsSince, nodes[node].isUnheard) = (now, false)
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
        if isPaused {
            // A silent server carries out later what it has in its buffers; where the connection is lost, with all that waits on
            // it, nobody waits for the answer any more.
            stalled.append((node, call, sentAt))
            let end = max(now, pausedAt + Self.timeout)
            if !isHeld { queue.put(.answer(node: node, call, nil, sentAt: sentAt), at: end) }
            return
        }
        if nodes[node].isCut {
            queue.put(.answer(node: node, call, nil, sentAt: sentAt), at: sentAt + Self.timeout)
            return
        }
        queue.put(.answer(node: node, call, atServer(call, of: node), sentAt: sentAt), at: latency())
    }

    private func atServer(_ call: ClusterCall, of node: Int) -> ClusterAnswer {
        let answer = server.carryOut(call, for: nodes[node].machine.settings)
        checkRoom(after: call)
        checkDeath(call, answer)
        return answer
    }

    func answered(_ node: Int, _ call: ClusterCall, _ answer: ClusterAnswer?, _ sentAt: Int64) {
        with(node) { machine in
            // Where one answer is lost the connection is.
            if answer == nil { machine.disconnected() }
            return machine.answered(call, answer, sentAt: MonotonicTime(nanoseconds: sentAt), moment)
        }
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
                (nodes[node].isCut, nodes[node].isUnheard) = (true, true)
                nodes[node].readsSince = .max
                queue.put(.disconnected(node: node), at: now + Self.timeout)
            }
        case .move: moveSome()
        case .heal:
            for node in nodes.indices where nodes[node].isCut {
                nodes[node].isCut = false
                queue.put(.connected(node: node), at: now + within(0, 2))
            }
        case .pause: pause()
        case .resume: resume()
        case .death: kill(someNode())
        case .stall: stallSome()
        case .silence, .hold:
            isHeld = happening == .hold
            pause()
            // A little less than what clients wait for keeps their connections.
            queue.put(.happens(.resume), at: now + 3 * Self.second - (isHeld ? Self.second / 20 : 0))
        }
    }

    private func pause() {
        (isPaused, pausedAt) = (true, now)
        for node in nodes.indices {
            nodes[node].readsSince = .max
            if isHeld { continue }
            queue.put(.disconnected(node: node), at: now + Self.timeout)
        }
    }

    /// What each node has sent is carried out in its order, but nobody knows whose first.
    private func resume() {
        isPaused = false
        let turns = nodes.indices.map { _ in random.next() }
        let waiting = stalled.enumerated().sorted { (turns[$0.element.node], $0.offset) < (turns[$1.element.node], $1.offset) }
        stalled = []
        for (node, call, sentAt) in waiting.map(\.element) {
            let answer = atServer(call, of: node)
            if isHeld { queue.put(.answer(node: node, call, answer, sentAt: sentAt), at: latency()) }
        }
        for node in nodes.indices {
            if isHeld { nodes[node].readsSince = now } else { queue.put(.connected(node: node), at: now + within(0, 2)) }
        }
        isHeld = false
    }

    /// Its process ends; two in three of its encoders look for another node.
    func kill(_ node: Int) {
        nodes[node].isAlive = false
        for holder in sessions.keys.filter({ $0.node == node }).sorted() {
            report.killedSessions += 1
            if let encoder = sessions[holder]?.encoder {
                if encoders[encoder].half == nil { leave(encoder, mayGo: true, since: now) } else { lostNode(ofJoint: encoder) }
            }
            forget(holder, writes: false)
        }
        for (index, encoder) in encoders.enumerated()
        where encoder.node == node && encoder.half == nil && !encoder.isLive && !encoder.hasGone { leave(index) }
        if let burial = plan.burial { queue.put(.buried(node: node), at: now + burial * Self.second) }
    }

    /// Some encoders change their network, and come to another node while the old one, cut or not, still waits for them.
    private func moveSome() {
        for (index, holder) in sessions.keys.sorted().enumerated() where index % 20 == 0 { move(holder) }
    }

    func move(_ holder: Holder) {
        guard let encoder = sessions[holder]?.encoder, encoders[encoder].half == nil else { return }
        sessions[holder]?.encoder = nil
        sessions[holder]?.silentSince = now
        queue.put(.abandoned(holder), at: now + 30 * Self.second)
        leave(encoder)
    }

    /// The encoder looks for another node.
    /// - Parameter death: when its node died.
    func leave(_ encoder: Int, mayGo: Bool = false, since death: Int64? = nil) {
        encoders[encoder].isLive = false
        lostHalf(encoder)
        encoders[encoder].hasGone = mayGo && chance(of: 3)
        if encoders[encoder].hasGone { return }
        encoders[encoder].lostNode = death ?? encoders[encoder].lostNode
        encoders[encoder].node = someNode()
        queue.put(.claim(encoder: encoder, takesOver: false), at: now + within(0, 2))
    }
}
