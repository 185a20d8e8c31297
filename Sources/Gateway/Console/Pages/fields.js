// Fields that several questions have.

export const userField = { name: 'userId', label: 'User id', hint: 'Shown to viewers and in events. Not secret.' };

export const attributesField = { name: 'attributes', label: 'Attributes', kind: 'area', hint: 'One a line: name=value. Not secret.' };

/** Lines of name=value as a map; undefined when there are none. */
export function attributes(text) {
  const lines = text.split('\n').map(line => line.trim()).filter(Boolean);
  const wrong = lines.find(line => line.indexOf('=') < 1);
  if (wrong) throw new Error(`Attributes are written name=value, one a line: "${wrong}" is not.`);
  const pairs = lines.map(line => [line.slice(0, line.indexOf('=')).trim(), line.slice(line.indexOf('=') + 1).trim()]);
  return pairs.length ? Object.fromEntries(pairs) : undefined;
}
