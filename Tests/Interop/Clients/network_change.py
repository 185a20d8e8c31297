"""A page's network that changes, for headless Chromium, which has no such network: the page is told so, and its session is out of reach at
first."""

SCRIPT = """
const peer = PEER, before = peer.remoteDescription.sdp.match(/^a=ice-ufrag:(.*)$/m)[1];
const send = window.fetch;
let tries = 0;
window.fetch = (url, options) => {
  if (options?.method !== 'PATCH') return send(url, options);
  tries++;
  if (tries === 1) return Promise.resolve(new Response('', { status: 503 }));
  delete peer.connectionState;
  return send(url, options);
};
Object.defineProperty(peer, 'connectionState', { value: 'disconnected', configurable: true });
peer.onconnectionstatechange();
const look = setInterval(async () => {
  const stats = await peer.getStats();
  const pairs = [...stats.values()].filter(each => each.type === 'transport').map(each => stats.get(each.selectedCandidatePairId));
  const ufrag = stats.get(pairs[0]?.remoteCandidateId)?.usernameFragment;
  if (!ufrag || ufrag === before || !(IS_SEEN)) return;
  clearInterval(look);
  DONE;
}, 100);
"""


def network_change(peer: str, done: str, is_seen: str = 'true') -> str:
    """What tells the page; `done` is run once media goes by new ICE credentials and `is_seen` holds. All are JavaScript."""
    return SCRIPT.replace('PEER', peer).replace('IS_SEEN', is_seen).replace('DONE', done)
