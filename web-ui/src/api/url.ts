// Returns the URL of the API, relative to the path that serves the console.

// Reads are aborted after this time. If the host of the server is down, the server does not answer at all,
// and TCP waits for minutes. Without this limit pages would stay unchanged for so long.
export const READ_LONGEST_MS = 30_000;

export type Query = { readonly [name: string]: string | number | readonly string[] | undefined };

export function apiUrl(path: string, query: Query = {}): string {
  const url = new URL('api/' + path, document.baseURI);
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '') continue;
    for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(one));
  }
  return url.href;
}
