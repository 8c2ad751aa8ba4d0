// Values for texts of a run: its steps, its attempts. Pure.
import './texts.en';
import type { Attempt, Run } from '../../../api/types';
import type { TFunction } from 'i18next';
import { bytes, difference, span } from '../../../lib/format';

export interface Step {
  key: 'fire' | 'planned' | 'previous_ended' | 'claimed' | 'started' | 'ended';
  at: string | null;
  // Milliseconds since the previous step with a known time. Negative only if the clocks of two hosts differ.
  after: number | null;
}

const SIGNALS: Record<number, string> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  3: 'SIGQUIT',
  4: 'SIGILL',
  6: 'SIGABRT',
  7: 'SIGBUS',
  8: 'SIGFPE',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  13: 'SIGPIPE',
  14: 'SIGALRM',
  15: 'SIGTERM',
  24: 'SIGXCPU',
  25: 'SIGXFSZ',
};

// "137 (128 + 9: SIGKILL; often out of memory)": a shell reports a signal in this way.
export function exitText(code: number, t: TFunction): string {
  const n = code - 128;
  if (n < 1 || n > 64) return String(code);
  const name = SIGNALS[n] ?? t('run.signal_n', { n });
  return t(n === 9 ? 'run.exit_killed' : 'run.exit_signal', { code, n, name });
}

// Returns the data of attempt `n`. The list of attempts may lack the last attempt. The fields of the run then
// have its data.
export function attemptOf(run: Run, n: number): Attempt {
  const found = run.attempts?.find((one) => one.attempt === n);
  return found ?? run;
}

// Returns the steps of one attempt, and the steps of the run before the attempt. An executor reports the
// start of the process together with its end. So an attempt that is running has a claim, but no start yet.
export function timeline(run: Run, n = run.attempt): Step[] {
  const shown = attemptOf(run, n);
  const previous = run.attempts?.findLast((one) => one.attempt < n);
  const times: (readonly [Step['key'], string | null])[] = [
    ['planned', run.planned_at],
    ['fire', run.fire_time],
    ...(previous ? [['previous_ended', previous.ended_at] as const] : []),
    ['claimed', shown.claimed_at],
    ...(shown.state === 'RUNNING' && !shown.started_at ? [] : [['started', shown.started_at] as const]),
    ['ended', shown.ended_at],
  ];
  // Shards, nodes and others are made after the fire that they belong to.
  if (difference(run.fire_time, run.planned_at)! > 0) times.splice(1, 0, times.shift()!);
  const steps: Step[] = [];
  let before: string | null = null;
  for (const [key, at] of times) {
    steps.push({ key, at: at ?? null, after: difference(before, at) });
    if (at) before = at;
  }
  return steps;
}

// Returns the attempt that failed before the attempt that waits to be started. undefined if no attempt waits.
export function failedBefore(run: Run): Attempt | undefined {
  if (run.state !== 'PENDING' || run.attempt < 2) return undefined;
  return run.attempts?.findLast((one) => one.attempt < run.attempt);
}

const mayHaveWritten = (one: Attempt) => Boolean(one.output) || one.state === 'LOST';

// Returns the attempt whose output is shown if the user has chosen none. This is the last attempt. If the
// last attempt has not been started, it is the last of the earlier attempts that may have written something.
export function attemptToShow(run: Run): number {
  const ended = (run.attempts ?? []).filter((one) => one.attempt < run.attempt);
  const begun = run.claimed_at !== null && run.state !== 'PENDING';
  if (begun || ended.length === 0) return run.attempt;
  return (ended.findLast(mayHaveWritten) ?? ended.at(-1)!).attempt;
}

// "1.5 s CPU, 25.2 MiB memory, 4.1 KiB read, 0 B written"
export const usageText = (usage: NonNullable<Attempt['usage']>, t: TFunction, language: string): string =>
  t('run.usage_of', {
    cpu: span(usage.cpu_us / 1000, language),
    memory: bytes(usage.memory_bytes, language),
    read: bytes(usage.read_bytes, language),
    written: bytes(usage.written_bytes, language),
  });

export const isWorkflow = (run: Run) => run.job_type === 'workflow';
