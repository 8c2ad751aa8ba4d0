// Converts a user's shares between the server's list and the form's fields. Pure.
import type { Share } from '../../api/types';

export const SHARES_MOST = 32;
export const EVERYWHERE = '*';

// Returns the shares that the rows contain. Empty rows are ignored.
export const sharesFrom = (rows: readonly Share[]): Share[] =>
  rows
    .map((row) => ({ namespace: row.namespace.trim(), selector: row.selector?.trim() ?? '' }))
    .filter((row) => row.namespace !== '' || row.selector !== '')
    .map(({ namespace, selector }) => (selector === '' ? { namespace } : { namespace, selector }));

export const sameShares = (a: readonly Share[], b: readonly Share[]) =>
  JSON.stringify(sharesFrom(a)) === JSON.stringify(sharesFrom(b));

// Returns the JSON pointers of the errors that the rows show. An error about a whole share is
// shown at its namespace.
export const pointersOf = (rows: readonly Share[]): string[] => [
  '/shares',
  ...rows.flatMap((_, i) => [`/shares/${i}`, `/shares/${i}/namespace`, `/shares/${i}/selector`]),
];
