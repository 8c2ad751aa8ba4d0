// Returns the URL of the API, relative to the path that serves the console.
export type Query = { readonly [name: string]: string | number | readonly string[] | undefined };

export function apiUrl(path: string, query: Query = {}): string {
  const url = new URL('api/' + path, document.baseURI);
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined || value === '') continue;
    for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, String(one));
  }
  return url.href;
}
