// Roles and expiry times that a token may have. Pure.
import type { Role } from '../../api/types';

export const LIFETIMES = ['7', '30', '90', '365', 'date', 'never'] as const;
export type Lifetime = (typeof LIFETIMES)[number];

const DAY_MS = 86_400_000;

// Where the server does not tell its roles: an older one, or it may not be asked.
const ROLES_OF_OLD = ['read_only', 'user', 'admin'];

// A token never may more than who makes it. Roles as GET /api/roles has them, least first.
export function rolesUpTo(role: string, roles: readonly Role[]): readonly string[] {
  const names = roles.length > 0 ? roles.map((one) => one.role) : ROLES_OF_OLD;
  const at = names.indexOf(role);
  return at < 0 ? [role] : names.slice(0, at + 1).toReversed();
}

const names = (permissions: readonly string[]) => permissions.map((one) => one.replace(/:own$/, ''));

// The permissions that a token of this role can be restricted to, limited to those of the caller. `permissions` as
// GET /api/auth/me has them; undefined: not known, and the server decides.
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

// RFC 3339; null for a token without end. A day named is included: it ends with it, in UTC. What is no day is
// sent as it is, so that the server says what is wrong with it.
export function expiryOf(lifetime: Lifetime, date: string, now: number): string | null {
  if (lifetime === 'never') return null;
  if (lifetime !== 'date') return new Date(now + Number(lifetime) * DAY_MS).toISOString();
  const day = Date.parse(date + 'T00:00:00Z');
  return Number.isNaN(day) ? date || '-' : new Date(day + DAY_MS).toISOString();
}
