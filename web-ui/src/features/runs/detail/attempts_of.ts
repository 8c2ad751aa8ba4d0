import { FINAL_STATES, type Attempt, type Run } from '../../../api/types';

// Returns all attempts, including an attempt that waits to be started.
export function attemptsOf(run: Run): Attempt[] {
  const made = run.attempts ?? [];
  if (FINAL_STATES.has(run.state) || made.some((one) => one.attempt === run.attempt)) return made;
  return [
    ...made,
    {
      attempt: run.attempt,
      state: run.state,
      executor_id: null,
      reason: null,
      claimed_at: null,
      started_at: null,
      ended_at: null,
      exit_code: null,
      output: '',
      output_truncated: false,
      error: null,
    },
  ];
}
