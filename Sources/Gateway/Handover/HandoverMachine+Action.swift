public import Admission
public import HandoverCodec
public import Store

extension HandoverMachine {
    /// What the machine wants done, in the order in which it is said.
    public enum Action: Equatable, Sendable {
        // What the other process hears
        /// Takes the connection that has just been made; its messages and its end are inputs.
        case accept
        /// Says why not once it has said something, and forgets the connection: one that is closed before that loses the words.
        case refuse(String)
        case send(HandoverMessage)
        /// Sends `offer` and every descriptor that a successor gets.
        case offer
        case tellLiving
        case tellReservations
        case tellPlacements
        /// How many processes before this one have sessions.
        case tellPredecessors
        /// `progress` and `sessions` are told again and again from now on.
        case tellProgress
        /// Ends the connection; `closed` comes of it.
        case close

        // What of this node goes, and comes back
        case suspendAdministration
        case resumeAdministration
        /// `storeSuspended` follows once another process may open the files.
        case suspendStore
        /// `storeResumed` follows.
        case resumeStore
        /// What the successor's process has added to the history counts for our leases, and they are ours to give again.
        case takeBack(EmbeddedStore.Recovered)
        case admit(Bool)
        /// `workerDone(step)` follows, once for each worker.
        case suspendAccepting(step: Int)
        /// History, leases and remembered refusals are told from now on, beginning with what there is.
        case relay
        /// `workerDone(step)` follows, once for each worker.
        case suspendReading(step: Int)
        case resumeWorkers
        /// Waits for a successor at the path of the data directory, or leaves the path to this one.
        case listen(Bool)
        /// The service manager hears which process is the node, and the data directory's lock says so.
        case passName(to: Int32)
        case takeBackName
        /// The process before us hears whether we have a successor.
        case tellPredecessor(isSucceeded: Bool)

        // What becomes of this process's own end (`DrainMachine`)
        case outlive
        case comeBack
        case terminate
        case abandon

        // What the successor wants done with our sessions
        case end(PublishLease, LeaseEnd)
        case answer(number: Int, HandedRequest)

        /// `timePassed` follows so much later, in place of what was asked for before; nil: it does not.
        case wake(after: Duration?)
        /// Everything that was made for this successor but the connection goes.
        case clear
        case forgetConnection
        case log(Event)
    }

    /// What the log is told.
    public enum Event: Equatable, Sendable {
        case began(process: Int32)
        case handedOver
        case rolledBack
        /// A successor that was given up has not ended: nothing that needs the store is answered before it has.
        case lingers(process: Int32)
        case storeNotResumed(StoreError)
    }
}
