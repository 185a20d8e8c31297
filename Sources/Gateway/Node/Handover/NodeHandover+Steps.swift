import Admission
import EventLoop
import Foundation
import GatewayLogging
import HTTP
import Handover
import HandoverCodec
import JSON
import MediaContract
import RouterForwarding
import Sockets
import Store
import Wire

extension NodeHandover {
    // MARK: - What the successor says

    func receive(_ message: HandoverMessage) {
        switch (message, phase) {
        case (.hello(HandoverMessage.version, let process), .offered): offer(to: process)
        case (.hello, .offered): channel?.send(.refused("it speaks another version of the hand-over: drain this process instead"))
        case (.prepare, .offered): prepare()
        case (.ready, .preparing): leave()
        case (.end(let lease, let end), .succeeded): parts.platform.leases.end(lease, end.reason)
        case (.request(let number, let handed), .succeeded): answer(number, handed)
        case (.terminate, .succeeded):
            isTerminating = true
            parts.drain.terminate()
        case (.succeeded(let isSucceeded), .succeeded): isBypassed = isSucceeded
        default: channel?.close()
        }
    }

    func receive(_ news: HandoverNews) {
        switch news {
        case .storeSuspended: if phase == .preparing { tellInventory() }
        case .storeResumed(let result): resumed(result)
        case .workerDone(let step): if step == self.step { workerDone() }
        case .history(let writes): channel?.send(writes) { .history($0) }
        case .lease(.changed(let handed)): channel?.send(.lease(handed))
        case .lease(.released(let lease)): channel?.send(.released(lease))
        case .refusal(let handed): channel?.send(.refusal(handed))
        case .answered(let number, let response): channel?.send(.response(number: number, response))
        }
    }

    // MARK: - Steps

    private func offer(to process: Int32) {
        self.process = process
        Log.event(.info, "handover_began", ["process": .integer(Int(process))])
        var sockets = parts.sockets()
        links = []
        for worker in 0..<parts.workers.count {
            guard let (ours, theirs) = try? DescriptorMessage.makePair() else { return channel?.close() ?? () }
            links.append(ours)
            sockets.append((SocketRole(.datagrams, worker: worker), theirs))
        }
        guard let (ours, theirs) = try? DescriptorMessage.makePair() else { return channel?.close() ?? () }
        channel?.follow(ours)
        for (number, line) in ([theirs] + (parts.predecessor()?.lifeLines ?? [])).enumerated() {
            sockets.append((SocketRole(.life, worker: number), line))
        }
        channel?.send(
            .offer(
                HandoverOffer(
                    generation: parts.generation, workers: parts.workers.count, descriptors: sockets.count,
                    sessionKey: parts.sessionKey.reveal())))
        for start in stride(from: 0, to: sockets.count, by: DescriptorMessage.maximumDescriptors) {
            let part = sockets[start...].prefix(DescriptorMessage.maximumDescriptors)
            channel?.send(.sockets(part.map(\.0)), part.map(\.1))
        }
    }

    /// The store's files go; what is asked of it waits. Live streams and new publishes go on from memory.
    private func prepare() {
        phase = .preparing
        parts.admin.suspend()
        parts.events.suspend()
        parts.platform.store.suspend { [sender = mailbox?.sender] in _ = sender?.send(.storeSuspended) }
    }

    private func tellInventory() {
        channel?.send(Array(parts.platform.leases.living)) { .living($0) }
        tellReservations()
        channel?.send(.prepared)
    }

    private func tellReservations() {
        for router in parts.services.staticRouters {
            for (owner, port) in router.reservations {
                channel?.send(.reservation(PortReservation(router: router.configuration.name, owner: owner, port: port)))
            }
        }
    }

    /// The successor has everything: first nobody is accepted any more, then the leases are told, then nothing is read.
    private func leave() {
        phase = .leaving
        step += 1
        parts.services.gate.set(.draining, true)
        awaited = parts.workers.count
        let (sender, step) = (mailbox?.sender, step)
        parts.workers.tell(.suspendAccepting { _ = sender?.send(.workerDone(step: step)) })
    }

    private func workerDone() {
        awaited -= 1
        guard awaited == 0, phase == .leaving else { return }
        if links.isEmpty { return handedOver() }
        let (sender, step) = (mailbox?.sender, step)
        parts.platform.store.relay { writes in _ = sender?.send(.history(writes)) }
        parts.platform.leases.handOver { change in _ = sender?.send(.lease(change)) }
        parts.services.contract.handOver { handed in _ = sender?.send(.refusal(handed)) }
        awaited = links.count
        for (worker, link) in links.enumerated() {
            parts.workers.tell(.suspendReading(link) { _ = sender?.send(.workerDone(step: step)) }, worker: worker)
        }
        links = []
    }

    private func handedOver() {
        phase = .succeeded
        deadline = nil
        stopListening()
        tellReservations()
        parts.notifier?.passOn(to: process)
        parts.predecessor()?.tell(weAreSucceeded: true)
        channel?.send(.yours)
        countPredecessors()
        Log.event(.info, "handed_over", ["live": .integer(parts.services.gate.livePublishes)])
        parts.drain.outlive { [unowned self] in channel?.send(.left) }
        progress = loop.schedule(after: Self.progressInterval, repeating: Self.progressInterval) { [unowned self] in
            tellProgress()
        }
    }

    /// What is told again and again waits for nobody.
    private func tellProgress() {
        guard let channel, !channel.isBehind else { return }
        let entries = parts.platform.leases.progress.map { HolderProgress(lease: $0.lease, nanoseconds: $0.at.nanoseconds) }
        channel.send(entries) { .progress($0) }
        if loop.now - toldSessions >= Self.sessionsInterval { tellSessions() }
    }

    /// Sessions as text, because each process knows members of its own. One too long to be told is left out.
    private func tellSessions() {
        toldSessions = loop.now
        let texts = parts.sessions().map { PeerBytes($0.serialized()) }
        channel?.send(texts.filter { $0.bytes.count <= Self.maximumSessionLength }) { .sessions($0, isLast: false) }
        channel?.send(.sessions([], isLast: true))
    }

    private func answer(_ number: Int, _ handed: HandedRequest) {
        guard let request = handed.request else {
            channel?.send(.response(number: number, HandedResponse(HTTPResponse(.badRequest))))
            return
        }
        let sender = mailbox?.sender
        parts.workers.tell(
            .answer(request) { _ = sender?.send(.answered(number, HandedResponse($0))) }, worker: 0)
    }

    // MARK: - Back

    /// The connection is over. Until the successor is known to be gone, what it has is still its own.
    func closed() {
        step += 1
        deadline = nil
        progress = nil
        links = []
        switch phase {
        case .offered:
            (phase, channel) = (.alone, nil)
            rolledBack()
        case .succeeded where isTerminating || parts.drain.isOver: parts.drain.terminate()
        case .succeeded where isBypassed: parts.drain.abandon()
        default:
            // One that serves and has closed all the same goes on without us, and its listeners and store are lost to us.
            if phase == .succeeded {
                deadline = loop.schedule(after: Self.farewell) { [unowned self] in parts.drain.abandon() }
            }
            phase = .parting
        }
    }

    /// The successor is gone: whatever it had is ours again, and was never closed here.
    func gone() {
        guard phase == .parting else { return }
        (phase, channel, deadline) = (.returning, nil, nil)
        resumeStore()
        rolledBack()
    }

    private func rolledBack() {
        Log.event(.warning, "handover_rolled_back", ["live": .integer(parts.services.gate.livePublishes)])
    }

    private func resumeStore() {
        let sender = mailbox?.sender
        parts.predecessor()?.tell(weAreSucceeded: false)
        parts.platform.store.resume(sparing: parts.platform.leases.living) { _ = sender?.send(.storeResumed($0)) }
        parts.drain.comeBack()
        parts.services.gate.set(.draining, false)
        parts.workers.tell(.resume)
    }

    private func resumed(_ result: Result<EmbeddedStore.Recovered, StoreError>) {
        switch result {
        case .failure(let error):
            // The successor's last moments may hold a lock: ask again.
            Log.event(.error, "store_not_resumed", ["because": .string("\(error)")])
            deadline = loop.schedule(after: .seconds(1)) { [unowned self] in resumeStore() }
        case .success(let recovered):
            deadline = nil
            parts.platform.leases.takeBack(recovered)
            parts.services.contract.takeBack()
            phase = .alone
            parts.admin.resume()
            parts.events.resume()
            parts.tellHolder()
            parts.notifier?.send("MAINPID=\(getpid())\nREADY=1")
            if (try? listen()) == nil { Log.event(.error, "handover_not_offered") }
        }
    }

    private static let progressInterval: Duration = .milliseconds(250)
    private static let sessionsInterval: Duration = .seconds(1)
    /// Bytes of one session's JSON.
    private static let maximumSessionLength = 16 * 1024
    /// A process that ends closes everything within milliseconds; a loaded machine gets more.
    private static let farewell: Duration = .seconds(5)
}
