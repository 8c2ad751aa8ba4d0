// What a token may be: its role, and when it ends. Pure.
export const LIFETIMES = ['7', '30', '90', '365', 'date', 'never'] as const;
export type Lifetime = (typeof LIFETIMES)[number];

const ASCENDING = ['read_only', 'user', 'admin'] as const;
const DAY_MS = 86_400_000;

// A token never may more than who makes it.
export function rolesUpTo(role: string): readonly string[] {
  const at = ASCENDING.indexOf(role as (typeof ASCENDING)[number]);
  return at < 0 ? [role] : ASCENDING.slice(0, at + 1).toReversed();
}

const SCOPES: Record<string, readonly string[]> = {
  read_only: ['read', 'self:manage'],
  user: ['read', 'self:manage', 'jobs:run', 'jobs:write', 'secrets:write'],
  admin: ['read', 'self:manage', 'jobs:run', 'jobs:write', 'secrets:write', 'executors:write', 'config:write', 'store:accept', 'audit:read', 'users:manage'],
};

// What a token of this role can be kept to; of somebody who may less himself, to what he may. `permissions` as
// GET /api/auth/me has them; undefined: not known, and the server decides.
export function scopesOf(role: string, permissions: readonly string[] | undefined): readonly string[] {
  const own = permissions?.map((one) => one.replace(/:own$/, ''));
  return (SCOPES[role] ?? []).filter((one) => own?.includes(one) ?? true);
}

// RFC 3339; null for a token without end. A day named is included: it ends with it, in UTC. What is no day is
// sent as it is, so that the server says what is wrong with it.
export function expiryOf(lifetime: Lifetime, date: string, now: number): string | null {
  if (lifetime === 'never') return null;
  if (lifetime !== 'date') return new Date(now + Number(lifetime) * DAY_MS).toISOString();
  const day = Date.parse(date + 'T00:00:00Z');
  return Number.isNaN(day) ? date || '-' : new Date(day + DAY_MS).toISOString();
}
