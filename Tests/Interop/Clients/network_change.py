"""A page's network that changes, for headless Chromium, which has no such network: the page is told so, and its session is out of reach at
first."""

SCRIPT = """
const peer = PEER, remoteUfrag = () => peer.remoteDescription.sdp.match(/^a=ice-ufrag:(.*)$/m)[1], before = remoteUfrag();
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
// A pair that was there keeps its candidate's former name in the statistics, but checks with the new credentials.
let first;
const look = setInterval(async () => {
  if (remoteUfrag() === before || !(IS_SEEN)) return;
  const pairs = [...(await peer.getStats()).values()].filter(each => each.type === 'candidate-pair');
  const answered = pairs.reduce((sum, pair) => sum + pair.responsesReceived, 0);
  first ??= answered;
  if (answered < first + 3) return;
  clearInterval(look);
  DONE;
}, 100);
"""


def network_change(peer: str, done: str, is_seen: str = 'true') -> str:
    """What tells the page; `done` is run once checks with new ICE credentials are answered and `is_seen` holds. All are JavaScript."""
    return SCRIPT.replace('PEER', peer).replace('IS_SEEN', is_seen).replace('DONE', done)
