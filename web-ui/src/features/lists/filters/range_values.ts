// Converts a time range between the text fields, the URL and the API. Pure.
export interface Range {
  since: string | undefined;
  until: string | undefined;
}

const text = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());

// Converts the two texts. An empty text means that the range is open at this end. Null if a text is not a
// time, or if the range does not end after its beginning.
export function rangeOf(from: string, to: string, instant: (local: string) => number): Range | null {
  const [since, until] = [from, to].map((local) => (local === '' ? undefined : instant(local)));
  if (Number.isNaN(since) || Number.isNaN(until)) return null;
  if (since !== undefined && until !== undefined && since >= until) return null;
  return { since: text(since), until: text(until) };
}
