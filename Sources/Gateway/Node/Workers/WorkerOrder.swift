import HTTP
import OpenSSL
import Sockets

/// Orders to a worker from the control loop.
enum WorkerOrder: Sendable {
    /// Ends every session and stops the loop.
    case stop
    /// Asks encoders that understand it to connect elsewhere (a drain has begun).
    case requestReconnect
    /// Ends as many sessions as the budget allows, oldest first (a drain's deadline has come).
    case close(CloseBudget)
    /// New TLS connections get this context.
    case replaceTLS(TLSContext)
    /// Leave new connections to the process that takes our place.
    case suspendAccepting(done: @Sendable () -> Void)
    /// That process reads the media port, and passes on over this descriptor what is for our sessions.
    case suspendReading(OwnedDescriptor, done: @Sendable () -> Void)
    /// Accept and read (again).
    case resume
    /// Datagrams of nobody we know are for the process before us; nil when that has ended.
    case passForeign(OwnedDescriptor?)
    /// Answer a request that the process after us got for a session of ours.
    case answer(HTTPRequest, reply: @Sendable (HTTPResponse) -> Void)
}
