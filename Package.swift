// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// One row per module: the folder tree is the architecture diagram, and arrows go down only (scripts/check-layers).
struct Module {
    enum Kind { case system(pkgConfig: String?, apt: String), c, library, executable }
    var name: String
    var layer: String
    var kind = Kind.library
    var uses: [String] = []
    var products: [Target.Dependency] = []
    /// Modules that only its tests use.
    var testUses: [String] = []
    var hasTests = true
    /// Whether the compiler demands a mark on every unsafe expression (`strictMemorySafety`).
    var isUnsafeChecked = false
    /// Pages and other files that become part of the binary.
    var embedded: [String] = []
}

func binding(_ name: String, _ pkgConfig: String?, apt: String) -> Module {
    Module(name: name, layer: "Bindings", kind: .system(pkgConfig: pkgConfig, apt: apt), hasTests: false)
}

func protocols(_ name: String, _ uses: [String] = [], testUses: [String] = []) -> Module {
    Module(name: name, layer: "Protocols", uses: uses, testUses: testUses, isUnsafeChecked: true)
}

func crypto(_ name: String, _ uses: [String], testUses: [String] = []) -> Module {
    Module(name: name, layer: "Crypto", uses: uses, testUses: testUses, isUnsafeChecked: true)
}

func platform(_ name: String, _ uses: [String], testUses: [String] = []) -> Module {
    Module(name: name, layer: "Platform", uses: uses, testUses: testUses, isUnsafeChecked: true)
}

func gateway(
    _ name: String, _ uses: [String], isUnsafeChecked: Bool = false, products: [Target.Dependency] = [], testUses: [String] = [],
    embedded: [String] = []
) -> Module {
    Module(
        name: name, layer: "Gateway", uses: uses, products: products, testUses: testUses, isUnsafeChecked: isUnsafeChecked,
        embedded: embedded)
}

let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let grdb = Target.Dependency.product(name: "GRDB", package: "GRDB.swift")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")
let swiftConfiguration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")

let modules: [Module] = [
    binding("CLibevent", "libevent_pthreads", apt: "libevent-dev"),
    binding("COpenSSL", "libssl", apt: "libssl-dev"),
    binding("CSRTP", "libsrtp2", apt: "libsrtp2-dev"),
    binding("CNice", "nice", apt: "libnice-dev"),
    binding("CRTMP", "librtmp", apt: "librtmp-dev"),
    binding("CAVCodec", "libavcodec", apt: "libavcodec-dev"),
    binding("CSWResample", "libswresample", apt: "libswresample-dev"),
    binding("COpus", "opus", apt: "libopus-dev"),
    binding("CTurboJPEG", "libturbojpeg", apt: "libturbojpeg0-dev"),
    binding("CCurl", "libcurl", apt: "libcurl4-openssl-dev"),
    // Without pkg-config, whose large-file flag SwiftPM refuses aloud: the header stands where every header does.
    binding("CHiredis", nil, apt: "libhiredis-dev"),
    Module(name: "CShim", layer: "Bindings", kind: .c, hasTests: false),
    Module(name: "CHandshakeMemory", layer: "Bindings", kind: .c, hasTests: false),

    protocols("Wire"),
    protocols("JSON", ["Wire"]),
    protocols("CBOR", ["Wire"]),
    protocols("AMF0", ["Wire"]),
    protocols("FLV", ["Wire", "AMF0"]),
    protocols("RTMP", ["Wire", "AMF0", "FLV"]),
    protocols("H264", ["Wire"]),
    protocols("AAC", ["Wire"]),
    protocols("Opus", ["Wire"]),
    protocols("RTP", ["Wire", "H264"]),
    protocols("RTCP", ["Wire"]),
    protocols("SDP", ["Wire"]),
    protocols("HTTP", ["Wire", "JSON"]),
    protocols("JWT", ["Wire", "JSON"]),
    protocols("MP4", ["Wire", "H264", "AAC", "Opus"]),
    protocols("HLS", ["Wire"]),

    crypto("OpenSSL", ["COpenSSL", "Wire"]),
    crypto("Signatures", ["OpenSSL", "Wire", "JWT", "HTTP"]),
    crypto("DTLS", ["COpenSSL", "CHandshakeMemory", "OpenSSL", "Wire"]),
    crypto("SRTP", ["COpenSSL", "CSRTP", "Wire"]),
    crypto("STUN", ["CNice", "Wire"]),

    platform("EventLoop", ["CLibevent", "CShim", "Wire"]),
    platform("Sockets", ["EventLoop", "CShim", "OpenSSL", "Wire"]),
    platform("GatewayLogging", ["EventLoop", "CShim", "JSON", "Wire"]),
    platform("GatewayMetrics", ["EventLoop", "Wire"]),
    platform("DataDirectory", ["CShim"]),
    platform("HTTPServer", ["EventLoop", "Sockets", "GatewayMetrics", "HTTP", "JSON", "OpenSSL", "Wire"]),
    platform("Redis", ["CHiredis", "EventLoop", "Sockets", "OpenSSL", "Wire"]),
    platform("HTTPClient", ["EventLoop", "CCurl", "Wire"], testUses: ["Sockets", "HTTP", "HTTPServer", "OpenSSL"]),

    gateway("Refusals", []),
    gateway("Settings", ["Wire"]),
    gateway("Admission", ["Wire", "OpenSSL", "Refusals", "EventLoop"]),
    gateway("GatewayConfiguration", ["Wire", "Settings"], products: [yams, swiftConfiguration]),
    gateway("StageMetrics", ["Wire", "JSON"]),
    gateway(
        "Store", ["Wire", "Settings", "JSON", "JWT", "Refusals", "Admission", "StageMetrics", "EventLoop", "OpenSSL"],
        products: [grdb]),
    gateway("StageHub", ["Wire", "RTP", "Refusals", "Admission"], isUnsafeChecked: true),
    gateway(
        "Monitoring",
        [
            "Wire", "Settings", "JSON", "StageHub", "StageMetrics", "MediaContract", "Admission", "Refusals", "EventLoop",
            "GatewayLogging", "GatewayMetrics",
        ],
        isUnsafeChecked: true),
    gateway("Thumbnails", ["CAVCodec", "CTurboJPEG", "EventLoop", "GatewayMetrics"], isUnsafeChecked: true),
    gateway(
        "Recording",
        [
            "Wire", "Settings", "H264", "AAC", "Opus", "RTP", "MP4", "HLS", "EventLoop", "StageHub", "Refusals", "Admission",
            "Thumbnails", "Transcoding", "ObjectStorage", "GatewayLogging", "GatewayMetrics",
        ], isUnsafeChecked: true),
    gateway(
        "MediaContract", ["Wire", "Settings", "H264", "AAC", "Opus", "Refusals", "EventLoop"], isUnsafeChecked: true,
        testUses: ["StageHub"]),
    gateway(
        "Replication",
        ["Wire", "EventLoop", "StageHub", "Admission", "Refusals", "Store", "GatewayLogging"], isUnsafeChecked: true,
        testUses: ["Settings", "Redis", "Cluster", "ClusterStore"]),
    gateway("EncoderSetup", ["Wire", "Settings", "JSON"]),
    gateway(
        "ClientConfiguration",
        [
            "Wire", "Settings", "JSON", "HTTP", "EventLoop", "Admission", "Refusals", "Store", "MediaContract", "Monitoring",
            "GatewayLogging", "GatewayMetrics", "EncoderSetup",
        ]),
    gateway(
        "Transcoding", ["Wire", "Settings", "CAVCodec", "CSWResample", "COpus", "AAC", "EventLoop", "CShim"],
        isUnsafeChecked: true),
    gateway(
        "RouterForwarding",
        [
            "Wire", "Settings", "StageHub", "RTP", "RTCP", "H264", "SDP", "JSON", "SRTP", "OpenSSL", "EventLoop", "Sockets",
            "HTTPClient", "DataDirectory", "Admission", "Refusals", "GatewayLogging", "GatewayMetrics",
        ], isUnsafeChecked: true, testUses: ["HTTP", "HTTPServer"]),
    gateway(
        "RTMPIngest",
        [
            "Wire", "Settings", "AMF0", "FLV", "RTMP", "H264", "AAC", "Opus", "RTP", "HTTP", "OpenSSL", "EventLoop",
            "Sockets", "StageHub", "MediaContract", "Transcoding", "Admission", "Refusals", "Monitoring", "GatewayLogging",
            "GatewayMetrics",
        ], isUnsafeChecked: true),
    gateway(
        "WebRTCTransport",
        [
            "Wire", "Settings", "SDP", "HTTP", "DTLS", "SRTP", "STUN", "OpenSSL", "EventLoop", "Sockets", "Refusals",
            "GatewayMetrics",
        ], isUnsafeChecked: true),
    gateway(
        "WHIPIngest",
        [
            "Wire", "Settings", "SDP", "HTTP", "HTTPClient", "RTP", "RTCP", "H264", "Opus", "JSON", "OpenSSL", "EventLoop",
            "WebRTCTransport", "StageHub", "MediaContract", "Admission", "Refusals", "Monitoring", "GatewayLogging",
            "GatewayMetrics",
        ], isUnsafeChecked: true, testUses: ["DTLS", "SRTP", "STUN", "Sockets", "HTTPServer"], embedded: ["Pages/publish.html"]),
    gateway(
        "SharedPort", ["Wire", "HTTP", "OpenSSL", "EventLoop", "Sockets", "GatewayLogging", "GatewayMetrics"],
        isUnsafeChecked: true, testUses: ["HTTPServer"]),
    gateway(
        "EmbeddedRouter",
        [
            "Wire", "Settings", "SDP", "HTTP", "JSON", "JWT", "RTP", "RTCP", "OpenSSL", "EventLoop", "HTTPServer",
            "WebRTCTransport", "StageHub", "Admission", "Refusals", "GatewayLogging", "GatewayMetrics",
        ], isUnsafeChecked: true, testUses: ["Sockets"],
        embedded: ["Pages/watch.html", "Pages/watch.css", "Pages/watch.js", "Pages/viewer.js"]),
    gateway(
        "RedundantIngest",
        [
            "Wire", "JSON", "H264", "EventLoop", "StageHub", "MediaContract", "Admission", "Refusals", "Monitoring",
            "GatewayLogging", "GatewayMetrics",
        ], isUnsafeChecked: true),
    gateway(
        "Events", ["Wire", "Settings", "JSON", "HTTP", "EventLoop", "Store", "HTTPClient", "OpenSSL", "Signatures"],
        testUses: ["Admission", "Refusals", "HTTPServer"]),
    gateway(
        "Console", ["HTTP"],
        embedded: [
            "Pages/console.html", "Pages/console.css", "Pages/setup.css", "Pages/api.js", "Pages/boot.js",
            "Pages/console.js", "Pages/dialogs.js", "Pages/dom.js", "Pages/encoders.js", "Pages/fields.js", "Pages/inventory.js",
            "Pages/keys.js", "Pages/layers.js", "Pages/lists.js", "Pages/node.js", "Pages/notices.js", "Pages/player.js",
            "Pages/playlist.js", "Pages/publickeys.js", "Pages/qr.js", "Pages/qrmatrix.js", "Pages/recordings.js",
            "Pages/redundant.js", "Pages/reedsolomon.js", "Pages/rights.js", "Pages/rules.js", "Pages/sessions.js",
            "Pages/sheet.js", "Pages/signature.js", "Pages/sparkline.js", "Pages/stages.js", "Pages/storage.js",
            "Pages/thumbnails.js", "Pages/tokens.js", "Pages/units.js",
        ]),
    gateway(
        "ObjectStorage",
        ["Wire", "Settings", "OpenSSL", "Signatures", "EventLoop", "HTTPClient", "GatewayLogging", "GatewayMetrics"],
        isUnsafeChecked: true, testUses: ["HTTP", "HTTPServer", "Sockets"]),
    gateway(
        "ControlPlane",
        [
            "Wire", "Settings", "JSON", "HTTP", "OpenSSL", "Signatures", "EventLoop", "HTTPClient", "Admission", "Store",
            "Refusals",
        ],
        testUses: ["HTTPServer", "Sockets"]),

    gateway("CloudWatch", ["Wire", "JSON", "CBOR", "HTTP", "StageMetrics"]),
    gateway(
        "Cluster", ["Wire", "Settings", "JSON", "EventLoop", "Redis", "Refusals", "Admission", "Store"],
        embedded: [
            "common", "claim", "renew", "release", "end", "sweep", "idle", "look", "begin", "announce", "heartbeat", "bury",
            "heard", "nodes",
        ].map { "Scripts/\($0).lua" }),
    gateway(
        "ClusterStore", ["Wire", "Settings", "JSON", "OpenSSL", "EventLoop", "Redis", "StageMetrics", "Store"],
        testUses: ["Sockets"],
        embedded: [
            "commit", "stage", "follow", "announce", "once", "participants", "session", "participant", "recording",
            "replication", "event", "closed", "append", "metrics", "journal", "wastest",
        ].map { "Scripts/\($0).lua" }),
    gateway("HandoverCodec", ["Wire", "EventLoop", "Sockets", "HTTP"]),
    gateway(
        "Handover",
        ["Wire", "EventLoop", "Sockets", "HTTP", "Refusals", "Admission", "MediaContract", "Store", "HandoverCodec"],
        testUses: ["Settings"]),

    gateway(
        "Node",
        [
            "CShim", "Wire", "OpenSSL", "EventLoop", "Sockets", "HTTP", "HTTPServer", "HTTPClient", "SRTP", "JSON",
            "GatewayLogging", "GatewayMetrics", "DataDirectory", "Refusals", "Settings", "GatewayConfiguration", "Store",
            "Redis", "ClusterStore", "Cluster", "EncoderSetup", "Admission", "StageHub", "StageMetrics", "MediaContract",
            "Transcoding", "RouterForwarding", "RTMPIngest", "WebRTCTransport", "CloudWatch", "WHIPIngest", "SharedPort",
            "EmbeddedRouter", "Events", "ControlPlane", "ObjectStorage", "Monitoring", "Console", "Handover", "HandoverCodec",
            "ClientConfiguration", "Recording", "RedundantIngest", "Replication",
        ], isUnsafeChecked: true, testUses: ["SDP"]),

    Module(
        name: "stagedoor", layer: "Programs", kind: .executable,
        uses: [
            "Wire", "JWT", "EventLoop", "Refusals", "Settings", "GatewayConfiguration", "Store", "ClusterStore", "Node",
        ],
        products: [argumentParser], hasTests: false),
    Module(
        name: "stagedoor-bench", layer: "Programs", kind: .executable,
        uses: [
            "Wire", "FLV", "AMF0", "RTMP", "RTP", "RTCP", "H264", "SDP", "JSON", "HTTP", "CRTMP", "CNice", "DTLS", "SRTP", "STUN",
            "COpenSSL", "OpenSSL", "EventLoop", "Sockets", "HTTPClient", "MediaContract", "Refusals", "RouterForwarding", "JWT",
            "Store", "Settings", "CShim", "CAVCodec", "COpus", "StageHub", "Admission", "Recording", "EmbeddedRouter",
            "RedundantIngest", "Replication",
        ],
        products: [argumentParser], hasTests: false, isUnsafeChecked: true),
]

/// `STAGEDOOR_ONLY=RTMP,SDP swift test` builds these modules, what they use, and their tests: quick turns while working on one.
let only = ProcessInfo.processInfo.environment["STAGEDOOR_ONLY"].map { Set($0.split(separator: ",").map(String.init)) }

func closure(of names: Set<String>) -> Set<String> {
    var found = Set<String>()
    var waiting = Array(names)
    while let name = waiting.popLast() {
        guard found.insert(name).inserted, let module = modules.first(where: { $0.name == name }) else { continue }
        waiting += module.uses + (names.contains(name) ? module.testUses : [])
    }
    return found
}

let built = only.map(closure(of:)) ?? Set(modules.map(\.name))
let tested = only ?? built

func swiftSettings(isUnsafeChecked: Bool, isTest: Bool = false) -> [SwiftSetting] {
    var settings: [SwiftSetting] = [
        .treatAllWarnings(as: .error),
        .enableUpcomingFeature("ExistentialAny"),
        .enableUpcomingFeature("MemberImportVisibility"),
    ]
    if isTest {
        // `make test` builds once, in release mode; tests themselves need no optimisation, which is half of such a build.
        settings.append(.unsafeFlags(["-Onone"]))
    } else {
        settings.append(.enableUpcomingFeature("InternalImportsByDefault"))
    }
    if isUnsafeChecked { settings.append(.strictMemorySafety()) }
    return settings
}

func target(_ module: Module) -> Target {
    let path = "Sources/\(module.layer)/\(module.name)"
    let dependencies = module.uses.map { Target.Dependency(stringLiteral: $0) } + module.products
    switch module.kind {
    case .system(let pkgConfig, let apt):
        return .systemLibrary(name: module.name, path: path, pkgConfig: pkgConfig, providers: [.apt([apt])])
    case .c:
        return .target(name: module.name, path: path)
    case .library:
        var settings = swiftSettings(isUnsafeChecked: module.isUnsafeChecked)
        if module.name == "Wire" { settings.append(.enableExperimentalFeature("Lifetimes")) }
        return .target(
            name: module.name, dependencies: dependencies, path: path,
            resources: module.embedded.map { .embedInCode($0) }, swiftSettings: settings)
    case .executable:
        return .executableTarget(
            name: module.name, dependencies: dependencies, path: path,
            swiftSettings: swiftSettings(isUnsafeChecked: module.isUnsafeChecked))
    }
}

func tests(of module: Module) -> Target {
    let uses = [module.name, "TestSupport"] + module.uses + module.testUses
    return .testTarget(
        name: "\(module.name)Tests",
        dependencies: uses.map { Target.Dependency(stringLiteral: $0) } + module.products,
        path: "Tests/\(module.name)Tests",
        swiftSettings: swiftSettings(isUnsafeChecked: false, isTest: true))
}

var targets = modules.filter { built.contains($0.name) }.map(target)
targets.append(
    .target(
        name: "TestSupport", dependencies: ["Wire", "EventLoop"], path: "Tests/Support",
        swiftSettings: swiftSettings(isUnsafeChecked: false)))
if !built.contains("Wire") { targets.append(target(modules.first { $0.name == "Wire" }!)) }
targets += modules.filter { $0.hasTests && tested.contains($0.name) }.map(tests(of:))
if only == nil || tested.contains("Interop") {
    targets.append(
        .testTarget(
            name: "InteropTests", dependencies: ["TestSupport"], path: "Tests/Interop", exclude: ["Clients"],
            swiftSettings: swiftSettings(isUnsafeChecked: false, isTest: true)))
}

// The fuzzers' bodies run over their seeds and past crashers as ordinary tests.
if only == nil {
    let libraries = modules.filter { !["Bindings", "Programs"].contains($0.layer) }.map(\.name)
    targets.append(
        .testTarget(
            name: "FuzzTests", dependencies: (["TestSupport"] + libraries).map { Target.Dependency(stringLiteral: $0) },
            path: "Fuzz", exclude: ["Corpus", "Crashers"],
            swiftSettings: swiftSettings(isUnsafeChecked: false, isTest: true)))
}

func isUsed(_ product: String) -> Bool {
    modules.contains { module in
        built.contains(module.name)
            && module.products.contains { if case .productItem(let name, _, _, _) = $0 { name == product } else { false } }
    }
}

var dependencies: [Package.Dependency] = []
if isUsed("ArgumentParser") {
    dependencies.append(.package(url: "https://github.com/apple/swift-argument-parser", exact: "1.8.2"))
}
if isUsed("GRDB") { dependencies.append(.package(url: "https://github.com/groue/GRDB.swift", exact: "7.10.0")) }
if isUsed("Yams") { dependencies.append(.package(url: "https://github.com/jpsim/Yams", exact: "6.2.2")) }
if isUsed("Configuration") {
    dependencies.append(.package(url: "https://github.com/apple/swift-configuration", exact: "1.4.0", traits: ["YAML"]))
}

let package = Package(
    name: "stagedoor",
    dependencies: dependencies,
    targets: targets,
    swiftLanguageModes: [.v6],
    cLanguageStandard: .gnu11
)
