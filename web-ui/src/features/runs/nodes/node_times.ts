// Times of the nodes of a run, for a table and for bars. Pure.
import type { RunNode } from '../../../api/workflows';

const ACTIVE = new Set(['RUNNING', 'HELD']);
const WAITS = new Set(['approval', 'wait']);
type Timed = Pick<RunNode, 'started_at' | 'ended_at' | 'state'> & Partial<Pick<RunNode, 'kind' | 'blocked'>>;
// True while the node runs, or waits for a decision or a time.
const isOpen = (node: Timed) =>
  ACTIVE.has(node.state) || (node.state === 'PENDING' && !node.blocked && WAITS.has(node.kind ?? ''));
const BAD = new Set(['FAILED', 'TIMED_OUT', 'LOST']);

// The time that the node has run, in ms; null if it has not started.
export function msOf(node: Timed, now: number): number | null {
  if (!node.started_at || (!node.ended_at && !isOpen(node))) return null;
  const end = node.ended_at ? Date.parse(node.ended_at) : now;
  return Math.max(0, end - Date.parse(node.started_at));
}

export interface TimeBar {
  id: string;
  left: number; // percent of the whole run
  width: number | null; // percent; null: not started
  open: boolean;
  bad: boolean;
}

export function barsOf(nodes: readonly RunNode[], now: number): TimeBar[] {
  const times = nodes.map((node) => {
    const ms = msOf(node, now);
    return ms === null ? null : { start: Date.parse(node.started_at!), ms };
  });
  const started = times.filter((time) => time !== null);
  const first = Math.min(...started.map((time) => time.start));
  const last = Math.max(...started.map((time) => time.start + time.ms));
  const whole = Math.max(1, last - first);
  return nodes.map((node, i) => {
    const time = times[i];
    return {
      id: node.id,
      left: time ? ((time.start - first) / whole) * 100 : 0,
      width: time ? (time.ms / whole) * 100 : null,
      open: isOpen(node),
      bad: BAD.has(node.state),
    };
  });
}
