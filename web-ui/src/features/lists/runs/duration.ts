// Returns for how long a run has been running, or ran, in milliseconds; not below 0, though the times may be those of
// two clocks. null before its start.
export function duration(
  run: { started_at: string | null; claimed_at?: string | null; ended_at: string | null },
  now: number,
): number | null {
  const from = run.started_at ?? run.claimed_at ?? null;
  if (!from) return null;
  return Math.max(0, (run.ended_at ? Date.parse(run.ended_at) : now) - Date.parse(from));
}
