import EventLoop
import HTTP
import HTTPServer
import JSON
import Refusals
import WebRTCTransport

/// The streams of server-sent events that one worker's viewers have open: who publishes, and the layers (WHEP core extensions).
/// Confined to the worker's loop.
final class LayerEvents {
    /// In the order in which the extension's Link names them.
    enum Kind: String, CaseIterable { case active, inactive, layers }

    private struct Stream {
        let entry: SubscriberEntry
        let kinds: Set<Kind>
        let events: HTTPEventStream
        /// Nil before the first notice; who joins while nobody publishes is not told so.
        var isActive: Bool?
    }

    private var streams: [Int: Stream] = [:]
    private var notices: Mailbox<LayerDesk.Notice>?

    /// - Throws: when the system gives no more descriptors.
    init(loop: EventLoop) throws(SystemError) {
        notices = try Mailbox(loop: loop) { [unowned self] in deliver($0) }
    }

    deinit { for (number, stream) in streams { stream.entry.desk.stopListening(number) } }

    /// Which events a client names; all where it names none.
    static func kinds(_ body: [UInt8]) throws(Refusal) -> [Kind] {
        guard !body.isEmpty else { return Kind.allCases }
        guard let asked = (try? JSONValue(parsing: body, limits: .standard))?.array else {
            throw Refusal(.unknownLayer, sentence: "The body is no JSON array of event names such as [\"layers\"].")
        }
        let names = Set(asked.compactMap(\.string))
        return Kind.allCases.filter { names.contains($0.rawValue) }
    }

    /// Opens a stream, and tells at once how it stands.
    /// - Parameter names: as `kinds` wrote them into the stream's URL.
    func open(_ entry: SubscriberEntry, names: String, _ exchange: HTTPExchange) throws(Refusal) {
        let kinds = Set(names.split(separator: ",").compactMap { Kind(rawValue: String($0)) })
        guard let notices, let number = entry.desk.listen(notices.sender) else { throw Refusal(.overloaded) }
        guard let events = exchange.startEventStream(headers: ["Access-Control-Allow-Origin": "*"]) else {
            return entry.desk.stopListening(number)
        }
        events.onClosed = { [unowned self] in close(number) }
        streams[number] = Stream(entry: entry, kinds: kinds, events: events)
    }

    private func close(_ number: Int) {
        guard let stream = streams.removeValue(forKey: number) else { return }
        stream.entry.desk.stopListening(number)
        stream.events.close()
    }

    private func deliver(_ notice: LayerDesk.Notice) {
        guard let stream = streams[notice.stream] else { return }
        switch notice.event {
        case .ended: close(notice.stream)
        case .changed(let state):
            if state.isActive != stream.isActive ?? false { send(state.isActive ? .active : .inactive, [:], by: stream) }
            if state.isActive { send(.layers, state.json, by: stream) }
            streams[notice.stream]?.isActive = state.isActive
        }
    }

    private func send(_ kind: Kind, _ data: JSONObject, by stream: Stream) {
        guard stream.kinds.contains(kind) else { return }
        stream.events.send(ServerSentEvent(event: kind.rawValue, data: JSONValue.object(data).description))
    }
}
