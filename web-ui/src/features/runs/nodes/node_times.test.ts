import { describe, expect, it } from 'vitest';
import type { RunNode } from '../../../api/workflows';
import { barsOf, msOf } from './node_times';

const at = (s: number) => new Date(Date.UTC(2026, 2, 1) + s * 1000).toISOString();
const node = (id: string, state: string, start: number | null, end: number | null) =>
  ({
    id,
    state,
    started_at: start === null ? null : at(start),
    ended_at: end === null ? null : at(end),
  }) as RunNode;
const now = Date.parse(at(100));

describe('the times of nodes', () => {
  it('the time of a node counts from its start to its end, or to now', () => {
    expect(msOf(node('a', 'COMPLETED', 10, 15), now)).toBe(5000);
    expect(msOf(node('a', 'RUNNING', 10, null), now)).toBe(90_000);
    expect(msOf(node('a', 'PENDING', null, null), now)).toBeNull();
    expect(msOf(node('a', 'SKIPPED', null, 15), now)).toBeNull();
    expect(msOf(node('a', 'PENDING', 10, null), now)).toBeNull(); // blocked again
    expect(msOf(node('a', 'RUNNING', 200, null), now)).toBe(0); // the clocks differ
  });

  it('an approval or a wait counts while it is open', () => {
    const gate = (more: object) => ({ ...node('a', 'PENDING', 10, null), ...more }) as RunNode;
    expect(msOf(gate({ kind: 'approval', blocked: false }), now)).toBe(90_000);
    expect(msOf(gate({ kind: 'wait', blocked: false }), now)).toBe(90_000);
    expect(msOf(gate({ kind: 'approval', blocked: true }), now)).toBeNull();
    expect(msOf(gate({ kind: 'job', blocked: false }), now)).toBeNull();
    expect(barsOf([gate({ kind: 'approval', blocked: false })], now)[0]).toMatchObject({ open: true });
  });

  it('the bars of nodes lie within the whole run', () => {
    const bars = barsOf(
      [
        node('a', 'COMPLETED', 0, 50),
        node('b', 'FAILED', 50, 75),
        node('c', 'RUNNING', 75, null),
        node('d', 'PENDING', null, null),
      ],
      now,
    );
    expect(bars).toEqual([
      { id: 'a', left: 0, width: 50, open: false, bad: false },
      { id: 'b', left: 50, width: 25, open: false, bad: true },
      { id: 'c', left: 75, width: 25, open: true, bad: false },
      { id: 'd', left: 0, width: null, open: false, bad: false },
    ]);
    expect(barsOf([node('d', 'PENDING', null, null)], now)[0]).toMatchObject({ left: 0, width: null });
  });
});
