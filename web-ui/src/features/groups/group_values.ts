// Paths, limits and times of concurrency groups. Pure.
export const groupPath = (name: string): string => 'groups/' + encodeURIComponent(name);

const LIMIT_MAX = 10_000;
const PER_MAX = 86_400; // s

function numberOf(text: string, max: number): number | null {
  const digits = text.trim();
  return /^\d{1,5}$/.test(digits) && +digits <= max ? +digits : null;
}

// Returns the limit that the text names; null if it is no valid limit.
export const limitOf = (text: string): number | null => numberOf(text, LIMIT_MAX);

// Returns the seconds after which a slot is given again; null if the text names no valid time.
export const perOf = (text: string): number | null => numberOf(text, PER_MAX);

// Returns the body of a request that sets the group. A time that stays is left out, so that an upgrade that is not
// finished does not refuse it.
export const bodyOf = (
  limit: string,
  per: string,
  before = 0,
): { limit: number | null; per_s?: number | null } =>
  perOf(per) === before ? { limit: limitOf(limit) } : { limit: limitOf(limit), per_s: perOf(per) };
