// Roles and expiry times that a token may have. Pure.
import type { Role } from '../../api/types';

export const LIFETIMES = ['7', '30', '90', '365', 'date', 'never'] as const;
export type Lifetime = (typeof LIFETIMES)[number];

const DAY_MS = 86_400_000;

// Used while the roles are not known: the answer of the server has not arrived, the server is too old to
// return its roles, or the caller is not permitted to read them.
const ROLES_OF_OLD = ['read_only', 'user', 'admin'];

// Returns the roles up to the role of the token's creator, because a token may not do more than its creator.
// `roles` has the order of GET /api/roles: the role with the fewest permissions is first.
export function rolesUpTo(role: string, roles: readonly Role[]): readonly string[] {
  const names = roles.length > 0 ? roles.map((one) => one.role) : ROLES_OF_OLD;
  const at = names.indexOf(role);
  return at < 0 ? [role] : names.slice(0, at + 1).toReversed();
}

const names = (permissions: readonly string[]) => permissions.map((one) => one.replace(/:own$/, ''));

// Returns the permissions to which a token of this role can be restricted. They are limited to those
// of the caller. `permissions` are the caller's permissions in GET /api/auth/me. If they are
// undefined, the server decides.
export function scopesOf(
  role: string,
  roles: readonly Role[],
  permissions: readonly string[] | undefined,
): readonly string[] {
  const own = permissions && names(permissions);
  return names(roles.find((one) => one.role === role)?.permissions ?? []).filter(
    (one) => own?.includes(one) ?? true,
  );
}

// Returns the expiry time in RFC 3339; null for a token that does not expire. If the user chose a date, the
// token expires at the end of that day in UTC. An invalid date is sent unchanged, so that the server explains
// the mistake.
export function expiryOf(lifetime: Lifetime, date: string, now: number): string | null {
  if (lifetime === 'never') return null;
  if (lifetime !== 'date') return new Date(now + Number(lifetime) * DAY_MS).toISOString();
  const day = Date.parse(date + 'T00:00:00Z');
  return Number.isNaN(day) ? date || '-' : new Date(day + DAY_MS).toISOString();
}
