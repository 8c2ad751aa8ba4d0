// Addresses in the text of a log. Pure. What a job writes is not to be trusted: only http and https become links, only
// as what is seen leads there, and a name before an @ (http://bank.example@elsewhere) never does.
export interface Piece {
  text: string;
  href?: string;
}

const LINKS_MAX = 50; // of a part of a line; the rest stays text
// Ends at what no address has: white space, quotes, control characters, and those that turn the direction of writing.
const ADDRESS = /\bhttps?:\/\/[^\s<>"'`{}|\\^\p{Cc}\p{Cf}]+/giu;
const BEHIND = /[.,;:!?*_~]/;
const PAIRS: Record<string, string> = { ')': '(', ']': '[' };

// Without the end of the sentence that it stands in: (see http://a.example/b).
function trimmed(address: string): string {
  const seen: Record<string, number> = {};
  for (const letter of address) seen[letter] = (seen[letter] ?? 0) + 1;
  let end = address.length;
  for (; end > 0; end -= 1) {
    const last = address[end - 1]!;
    const opened = PAIRS[last];
    if (!BEHIND.test(last) && !(opened && seen[last]! > (seen[opened] ?? 0))) break;
    seen[last]! -= 1;
  }
  return address.slice(0, end);
}

function leadsTo(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  return /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' ? url.href : undefined;
}

export function piecesOf(text: string): Piece[] {
  const pieces: Piece[] = [];
  let end = 0;
  let links = 0;
  for (const found of text.matchAll(ADDRESS)) {
    if (links === LINKS_MAX) break;
    const address = trimmed(found[0]);
    const href = leadsTo(address);
    if (href === undefined) continue;
    if (found.index > end) pieces.push({ text: text.slice(end, found.index) });
    pieces.push({ text: address, href });
    end = found.index + address.length;
    links += 1;
  }
  if (end < text.length) pieces.push({ text: text.slice(end) });
  return pieces;
}
