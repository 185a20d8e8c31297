public import HTTP

/// The console: a page, its style and its script, all within the binary. They hold no data; what they show is asked of `/v1/`.
public enum ConsolePages {
    /// Nil when the request is for none of them.
    public static func response(to request: HTTPRequest) -> HTTPResponse? {
        guard let page = pages[request.path] else { return nil }
        guard request.method == .get || request.method == .head else {
            return ProblemDocument(.methodNotAllowed).response(headers: ["Allow": "GET, HEAD"])
        }
        return HTTPResponse(
            .ok,
            headers: [
                "Content-Type": page.type, "Cache-Control": "no-cache", "Content-Security-Policy": policy,
                "X-Frame-Options": "DENY", "Referrer-Policy": "no-referrer",
                "Cross-Origin-Opener-Policy": "same-origin", "Cross-Origin-Resource-Policy": "same-origin",
            ], body: page.bytes)
    }

    /// Where they are.
    public static var paths: [String] { pages.keys.sorted() }

    private static let pages: [String: (type: String, bytes: [UInt8])] = [
        "/": ("text/html; charset=utf-8", PackageResources.console_html),
        "/console/console.css": (style, PackageResources.console_css),
        "/console/setup.css": (style, PackageResources.setup_css),
        "/console/api.js": (script, PackageResources.api_js),
        "/console/boot.js": (script, PackageResources.boot_js),
        "/console/console.js": (script, PackageResources.console_js),
        "/console/dialogs.js": (script, PackageResources.dialogs_js),
        "/console/dom.js": (script, PackageResources.dom_js),
        "/console/encoders.js": (script, PackageResources.encoders_js),
        "/console/fields.js": (script, PackageResources.fields_js),
        "/console/inventory.js": (script, PackageResources.inventory_js),
        "/console/keys.js": (script, PackageResources.keys_js),
        "/console/layers.js": (script, PackageResources.layers_js),
        "/console/lists.js": (script, PackageResources.lists_js),
        "/console/node.js": (script, PackageResources.node_js),
        "/console/notices.js": (script, PackageResources.notices_js),
        "/console/player.js": (script, PackageResources.player_js),
        "/console/playlist.js": (script, PackageResources.playlist_js),
        "/console/publickeys.js": (script, PackageResources.publickeys_js),
        "/console/qr.js": (script, PackageResources.qr_js),
        "/console/qrmatrix.js": (script, PackageResources.qrmatrix_js),
        "/console/reedsolomon.js": (script, PackageResources.reedsolomon_js),
        "/console/recordings.js": (script, PackageResources.recordings_js),
        "/console/redundant.js": (script, PackageResources.redundant_js),
        "/console/rights.js": (script, PackageResources.rights_js),
        "/console/rules.js": (script, PackageResources.rules_js),
        "/console/sessions.js": (script, PackageResources.sessions_js),
        "/console/sheet.js": (script, PackageResources.sheet_js),
        "/console/signature.js": (script, PackageResources.signature_js),
        "/console/sparkline.js": (script, PackageResources.sparkline_js),
        "/console/stages.js": (script, PackageResources.stages_js),
        "/console/storage.js": (script, PackageResources.storage_js),
        "/console/thumbnails.js": (script, PackageResources.thumbnails_js),
        "/console/tokens.js": (script, PackageResources.tokens_js),
        "/console/units.js": (script, PackageResources.units_js),
    ]

    private static let style = "text/css; charset=utf-8"
    private static let script = "text/javascript; charset=utf-8"

    /// Nothing inline, nothing from elsewhere, and no page may frame this one.
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; media-src 'self' blob:; form-action 'none'; "
        + "base-uri 'none'; frame-ancestors 'none'"
}
