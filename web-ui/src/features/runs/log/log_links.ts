// Finds URLs in the text of a log. The text is not trusted. Only http and https URLs become links. The
// visible text of a link is its target. A URL with a name before an @, such as http://bank.example@elsewhere,
// does not become a link. Pure.
export interface Piece {
  text: string;
  href?: string;
}

const LINKS_MAX = 50; // links in one part of a line; further URLs stay text
// A URL ends at a character that no URL contains: white space, a quotation mark, a control character, or a
// character that changes the direction of writing.
const ADDRESS = /\bhttps?:\/\/[^\s<>"'`{}|\\^\p{Cc}\p{Cf}]+/giu;
const BEHIND = /[.,;:!?*_~]/;
const PAIRS: Record<string, string> = { ')': '(', ']': '[' };

// Removes punctuation that belongs to the sentence around a URL: (see http://a.example/b).
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
