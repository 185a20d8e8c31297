// HLS playlists of recordings, as far as a player needs them (RFC 8216).

const attribute = (line, name) => line.match(new RegExp(`[:,]${name}="?([^",]*)`))?.[1];

/** The first variant of a multivariant playlist: what its sound and pictures are, its size in bytes a second, and where it is. */
export function parseVariants(text) {
  const lines = text.split('\n');
  const index = lines.findIndex(line => line.startsWith('#EXT-X-STREAM-INF:'));
  if (index < 0) return null;
  const codecs = lines[index].match(/CODECS="([^"]*)"/)?.[1] ?? '';
  const rate = Number(attribute(lines[index], 'AVERAGE-BANDWIDTH') ?? attribute(lines[index], 'BANDWIDTH') ?? 0);
  return { codecs, bytesPerSecond: rate / 8, uri: lines[index + 1] };
}

/** Segments with their places in time, and whether more will come. */
export function parseSegments(text) {
  const segments = [];
  let [time, map, duration] = [0, '', 0];
  for (const line of text.split('\n')) {
    if (line.startsWith('#EXT-X-MAP:')) map = attribute(line, 'URI');
    else if (line.startsWith('#EXTINF:')) duration = parseFloat(line.slice(8));
    else if (line && !line.startsWith('#')) {
      segments.push({ uri: line, map, start: time, end: time + duration });
      time += duration;
    }
  }
  return { segments, duration: time, hasEnded: text.includes('#EXT-X-ENDLIST') };
}
