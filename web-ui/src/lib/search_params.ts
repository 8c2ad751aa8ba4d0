// Filters in the URL, as plain repeated parameters: ?state=FAILED&state=LOST&job_id=backup. The API and the
// command line use the same names.
export type Search = Record<string, string | string[] | undefined>;

export function parseSearch(text: string): Search {
  const search: Record<string, string | string[]> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    const before = search[name];
    if (before === undefined) search[name] = value;
    else search[name] = Array.isArray(before) ? [...before, value] : [before, value];
  }
  return search;
}

export function stringifySearch(search: Record<string, unknown>): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(search)) {
    for (const one of Array.isArray(value) ? value : [value]) {
      if (one !== undefined && one !== null && one !== '') params.append(name, String(one));
    }
  }
  const text = params.toString();
  return text ? '?' + text : '';
}

// Choices for the number of rows that a list loads at a time, in addition to the list's default.
export const PAGE_SIZES = ['20', '100', '200', '500'] as const;

// Refresh intervals of a page: never, or a number of seconds. Without the parameter each list uses
// its own interval.
export const REFRESHES = ['off', '15', '60'] as const;
export type Refresh = (typeof REFRESHES)[number];
// Time ranges of the history, in minutes. Without the parameter the range is 5 minutes.
export const RANGES = ['15', '60'] as const;
export type Range = (typeof RANGES)[number];

export const one = (value: unknown): string | undefined => {
  const first = Array.isArray(value) ? value[0] : value;
  return typeof first === 'string' && first !== '' ? first : undefined;
};
export const numeral = (value: unknown): string | undefined => {
  const found = one(value);
  return found && /^[1-9]\d{0,15}$/.test(found) ? found : undefined;
};
export const many = (value: unknown): string[] | undefined => {
  const all = (Array.isArray(value) ? value : [value]).filter(
    (v): v is string => typeof v === 'string' && v !== '',
  );
  return all.length > 0 ? all : undefined;
};
export function oneOf<T extends string>(value: unknown, all: readonly T[]): T | undefined {
  const found = one(value);
  return all.includes(found as T) ? (found as T) : undefined;
}
