// Compares the reports of the members. Pure.
import type { Member, SystemStatus } from '../../api/types';

export interface VersionGroup {
  version: string;
  ids: string[];
}

// Returns the known versions, each with its members. During an upgrade there are several versions.
export function versionsOf(members: readonly Member[]): VersionGroup[] {
  const groups = new Map<string, string[]>();
  for (const { id, version } of members)
    if (version) groups.set(version, [...(groups.get(version) ?? []), id]);
  return [...groups]
    .map(([version, ids]) => ({ version, ids }))
    .toSorted((a, b) => (a.version < b.version ? -1 : 1));
}

// Returns the versions as text: "0.1.0 (m1, m2), 0.2.0 (m3)". undefined if all members have the same version.
export function skewOf(members: readonly Member[]): string | undefined {
  const groups = versionsOf(members);
  return groups.length > 1
    ? groups.map(({ version, ids }) => `${version} (${ids.join(', ')})`).join(', ')
    : undefined;
}

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/;
const ANY = /^(0\.0\.0\.0|\[::\])$/; // the address of a member that listens on all interfaces

// Returns the URL of a member's metrics for a browser at `here`. undefined if the address works on the
// member's own host only.
export function metricsOf(ops: string, here: string): string | undefined {
  if (!URL.canParse(ops)) return undefined;
  const { hostname, protocol } = new URL(ops);
  if (!protocol.startsWith('http') || ANY.test(hostname)) return undefined;
  return LOOPBACK.test(hostname) && !LOOPBACK.test(here) ? undefined : new URL('/metrics', ops).href;
}

const known = (one: Member) => typeof one.paused === 'boolean';

// Returns two lists of members: those that have not applied the current pause or resume, and those that do
// not report whether they are paused.
export function pauseMismatch({ members, paused }: Pick<SystemStatus, 'members' | 'paused'>): {
  behind: string[];
  unknown: string[];
} {
  const want = Boolean(paused);
  return {
    behind: members.filter((one) => known(one) && one.paused !== want).map((one) => one.id),
    unknown: members.filter((one) => !known(one)).map((one) => one.id),
  };
}
