// AWS Signature Version 4 of one request without body, made with WebCrypto: the secret stays in the page.

const encoder = new TextEncoder();
const hex = buffer => [...new Uint8Array(buffer)].map(byte => byte.toString(16).padStart(2, '0')).join('');
const sha256 = async text => hex(await crypto.subtle.digest('SHA-256', encoder.encode(text)));

async function hmac(key, text) {
  const imported = await crypto.subtle.importKey('raw', key, { name: 'HMAC', hash: 'SHA-256' }, false, ['sign']);
  return crypto.subtle.sign('HMAC', imported, encoder.encode(text));
}

/** The header fields that sign `method path`; browsers send Host by themselves. */
export async function sign({ method, path, accessKeyId, secretAccessKey, region }) {
  if (!globalThis.crypto?.subtle) {
    throw new Error('Browsers sign only on https:// and on localhost: use a TLS proxy, or a tunnel (ssh -L 8088:127.0.0.1:8088).');
  }
  const stamp = new Date().toISOString().replace(/[-:]|\.\d+/g, '');
  const scope = [stamp.slice(0, 8), region, 'ivs', 'aws4_request'];
  const signed = 'host;x-amz-date';
  const canonical = [method, path, '', `host:${location.host}`, `x-amz-date:${stamp}`, '', signed, await sha256('')].join('\n');
  let key = encoder.encode(`AWS4${secretAccessKey}`);
  for (const part of scope) key = await hmac(key, part);
  const text = ['AWS4-HMAC-SHA256', stamp, scope.join('/'), await sha256(canonical)].join('\n');
  const signature = hex(await hmac(key, text));
  return {
    'X-Amz-Date': stamp,
    Authorization: `AWS4-HMAC-SHA256 Credential=${accessKeyId}/${scope.join('/')}, SignedHeaders=${signed}, Signature=${signature}`,
  };
}
