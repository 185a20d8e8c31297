import Sockets
import GatewayMetrics
import EventLoop
import STUN
import Wire

/// Connectivity checks: the only thing that is taken from everybody (RFC 8445 §7.3).
extension MediaPort {
    func receiveCheck(_ datagram: UnsafeRawBufferPointer, on path: MediaPath, at now: MonotonicTime) {
        guard let message = STUNMessage(preChecking: datagram), message.isBindingRequest, message.hasIntegrity,
            let ufrag = message.localUfrag
        else { return plane.metrics.garbage.increment() }
        if !plane.mint.isOurs(ufrag), pass(datagram, on: path) { return }
        guard plane.mint.isOurs(ufrag), let (entry, password) = owner(of: ufrag, on: path) else {
            return plane.metrics.garbage.increment()
        }
        do throws(STUNError) {
            switch try agent.answer(datagram, password: password, from: path.remote, into: reply) {
            case .success(let byteCount):
                send(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(reply)[..<byteCount]), on: path)
                plane.metrics.checks.increment()
                checkSucceeded(entry, ufrag, password, useCandidate: message.useCandidate, on: path, at: now)
            case .roleConflict(let byteCount), .unknownAttributes(let byteCount):
                send(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(reply)[..<byteCount]), on: path)
            }
        } catch {
            plane.metrics.rejectedChecks.increment()
            if tuples.find(path.key) == nil { entry.checkRejected() }
        }
    }

    private func owner(of ufrag: LocalUfrag, on path: MediaPath) -> (any TransportEntry, [UInt8])? {
        if let member = tuples.find(path.key)?.member(ufrag: ufrag) { return (member.entry, member.password) }
        guard let entry = plane.directory.entry(ufrag: ufrag), let password = entry.transport.password(of: ufrag) else {
            return nil
        }
        return (entry, password)
    }

    private func checkSucceeded(
        _ entry: any TransportEntry, _ ufrag: LocalUfrag, _ password: [UInt8], useCandidate: Bool, on path: MediaPath,
        at now: MonotonicTime
    ) {
        entry.transport.heard(at: now)
        if path.isStream { connections[path.remote]?.authenticated() }
        let isNew = note(entry, ufrag, password, on: path, at: now)
        switch entry.transport.current {
        case .pending:
            entry.reached(.checked, peer: path.remote)
            if entry.transport.peer.isDTLSClient { claimAsClient(entry, useCandidate: useCandidate, on: path, at: now) }
        case .owned(index): sessions[ObjectIdentifier(entry)]?.tupleValidated(path, at: now)
        case .owned(let worker) where path.isStream: move(path, of: entry, to: worker)
        case .owned(let worker): if isNew { plane.send(.validated(entry, path), to: worker) }
        case .ended: tuples.remove(entry, at: path.key)
        }
    }

    /// Keeps the tuple for the session; true when this worker did not know them together.
    private func note(
        _ entry: any TransportEntry, _ ufrag: LocalUfrag, _ password: [UInt8], on path: MediaPath, at now: MonotonicTime
    ) -> Bool {
        let member = TupleMember(
            entry, session: sessions[ObjectIdentifier(entry)], ufrag: ufrag, password: password, now: now)
        guard tuples.note(member, on: path) else { return false }
        startRounds()
        rebound[path.key] = nil
        farewells.remove(path.key)
        // The first check with the credentials of a restart ends those before (RFC 8445 §9).
        plane.directory.remove(entry.transport.confirm(ufrag))
        return true
    }

    /// As DTLS client we go first: at USE-CANDIDATE, or 100 ms after the first check where none says so.
    private func claimAsClient(_ entry: any TransportEntry, useCandidate: Bool, on path: MediaPath, at now: MonotonicTime) {
        if useCandidate {
            claim(entry, on: path, at: now)?.startHandshake(at: now)
            return
        }
        guard entry.transport.scheduleClaim() else { return }
        let watch = loop.schedule(after: .milliseconds(100)) { [unowned self] in
            delayedClaims[ObjectIdentifier(entry)] = nil
            claim(entry, on: path, at: loop.now)?.startHandshake(at: loop.now)
        }
        delayedClaims[ObjectIdentifier(entry)] = watch
    }

    /// pending → owned by this worker; nil when another one was faster or the session has ended.
    func claim(_ entry: any TransportEntry, on path: MediaPath, at now: MonotonicTime) -> PeerTransport? {
        guard let sessionMaker = sessionMakers[entry.purpose], entry.transport.claim(worker: index) else { return nil }
        entry.reached(.claimed, peer: path.remote)
        let session = PeerTransport(entry: entry, port: self, path: path, now: now)
        session.session = sessionMaker.makeSession(for: entry, on: session)
        sessions[ObjectIdentifier(entry)] = session
        startRounds()
        tuples.own(entry, by: session)
        for tuple in tuples.tuples(of: entry) { session.tupleValidated(tuple.path, at: now) }
        return session
    }

    func send(_ datagram: UnsafeRawBufferPointer, on path: MediaPath) {
        if path.isStream {
            connections[path.remote]?.send(datagram)
        } else {
            socket.send(datagram, to: path.remote, from: path.local)
        }
    }
}

extension MediaPort {
    /// A genuine packet of a new source came: SRTP of it may be tried from unknown tuples.
    func register(source ssrc: UInt32, of session: PeerTransport) {
        session.sources.append(ssrc)
        plane.directory.add(source: ssrc, for: session.entry)
    }

    /// Drops all that leads to a session that has ended.
    func forget(_ session: PeerTransport) {
        sessions[ObjectIdentifier(session.entry)] = nil
        plane.directory.remove(sources: session.sources, of: session.entry)
        for path in tuples.removeAll(of: session.entry) where path.isStream {
            connections.removeValue(forKey: path.remote)?.closeAfterFlush()
        }
        gathering.removeAll { $0 === session }
    }
}
