const MINUTE_MS = 60_000;
const DAY_MS = 86_400_000;

// Returns the time a day ago, rounded down to the minute. So the query stays the same for a minute.
export const dayBefore = (now: number): string =>
  new Date(Math.floor(now / MINUTE_MS) * MINUTE_MS - DAY_MS).toISOString();
