// Paths and limits of concurrency groups. Pure.
export const groupPath = (name: string): string => 'groups/' + encodeURIComponent(name);

const LIMIT_MAX = 10_000;

// Returns the limit that the text names; null if it is no valid limit.
export function limitOf(text: string): number | null {
  const digits = text.trim();
  return /^\d{1,5}$/.test(digits) && +digits <= LIMIT_MAX ? +digits : null;
}
