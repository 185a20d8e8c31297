extension EventLoop {
    /// The loop's one object of that type, made at first use and kept with the loop: read buffers, receive batches, budgets.
    public func resource<Resource: AnyObject>(_ make: () -> Resource) -> Resource {
        let key = ObjectIdentifier(Resource.self)
        if let existing = resources[key], let resource = existing as? Resource { return resource }
        let resource = make()
        resources[key] = resource
        return resource
    }
}
