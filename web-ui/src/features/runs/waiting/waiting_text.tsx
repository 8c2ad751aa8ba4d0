// The banner of a run that has not started: what it waits for. Of a retry, the attempt that failed, why, and when the
// next one starts; of a slot of its job or of its concurrency group, its place in the queue.
import './texts.en';
import { Link } from '@tanstack/react-router';
import { Suspense, lazy, type ReactNode } from 'react';
import { useJob } from '../../../api/queries';
import type { Attempt, Run } from '../../../api/types';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { useNow } from '../../../lib/clock';
import { clockTime, countdown, readable } from '../../../lib/format';
import { ordinalIn } from '../../../lib/ordinal';
import { usePreferences } from '../../../lib/preferences';
import { Time } from '../../../ui/time';
import { exitText, failedBefore } from '../detail/run_text';

const Undecided = lazy(() => import('./undecided'));

const SECOND_MS = 1000;

// `error`: the run's error, in words.
export default function Waiting({ run, error }: { run: Run; error: ReactNode }) {
  const { t, i18n } = useTranslation();
  const textOr = useTextOr();
  const slot = slotPlace(run);
  const inGroup = groupPlace(run);
  const waits = slot ? (
    <WaitsForSlot run={run} {...slot} />
  ) : inGroup ? (
    <WaitsForGroup {...inGroup} />
  ) : run.waiting ? (
    <>
      {i18n.language !== 'en' && textOr('waiting.', run.waiting.code)}{' '}
      <span lang="en">{readable(run.waiting.detail)}</span>
    </>
  ) : (
    t('run.waits')
  );
  if (run.waiting?.code === 'approval' && run.workflow_run_id)
    return (
      <Suspense>
        <Undecided run={run} waits={waits} />
      </Suspense>
    );
  const failed = failedBefore(run);
  if (failed) return <RetryBanner run={run} failed={failed} waits={waits} />;
  return (
    <p role="status" className="mb-4 rounded-md bg-idle-soft px-4 py-2.5 text-idle">
      {run.waiting?.code === 'not_due' && run.due_at ? (
        <StartsIn at={run.due_at} />
      ) : (
        <>
          {waits} {error}
        </>
      )}
    </p>
  );
}

function useCountdown(at: string): { span: string; at: string } {
  const { language, time, zone } = usePreferences();
  const now = useNow();
  const due = Date.parse(at);
  const seconds = Math.max(0, Math.ceil((due - now) / SECOND_MS));
  return {
    span: countdown(seconds, language),
    at: clockTime(due, now, time === 'utc' ? 'UTC' : zone || undefined),
  };
}

function StartsIn({ at }: { at: string }) {
  const { t } = useTranslation();
  return <>{t('run.starts_in', useCountdown(at))}</>;
}

function RetryingIn({ at }: { at: string }) {
  const { t } = useTranslation();
  return <>{t('run.retrying_in', useCountdown(at))}</>;
}

// `waits` says why the next attempt has not been started although it is due.
function RetryBanner({ run, failed, waits }: { run: Run; failed: Attempt; waits: ReactNode }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  // The number of attempts comes from the current version of the job, because that version decides whether a
  // failed run is retried. A node may have its own number, which its run does not say.
  const job = useJob(run.job_id, 0);
  const n = failed.attempt;
  const of = run.workflow_run_id ? 0 : (job.data?.data.retry_count ?? 0) + 1;
  const why = failed.exit_code
    ? t('run.exit_code_n', { code: exitText(failed.exit_code, t) })
    : textOr('reason.', failed.reason) || textOr('state.', failed.state);
  return (
    <p role="status" className="mb-4 rounded-md bg-bad-soft px-4 py-2.5 text-bad">
      {of > n ? t('run.failed_attempt_of', { n, of, why }) : t('run.failed_attempt', { n, why })}{' '}
      {run.waiting?.code === 'not_due' && run.due_at ? (
        <RetryingIn at={run.due_at} />
      ) : run.waiting?.code === 'paused' ? (
        t('run.retry_resumes')
      ) : (
        waits
      )}
    </p>
  );
}

// Null if the run does not wait for a slot, or left the queue while it was read.
function slotPlace(run: Run): { position: number; length: number; since: string } | null {
  const { code, position, length, since } = run.waiting ?? {};
  return code === 'slot' && position !== undefined && length !== undefined && since !== undefined
    ? { position, length, since }
    : null;
}

function WaitsForSlot({ run, ...at }: { run: Run; position: number; length: number; since: string }) {
  const { t, i18n } = useTranslation();
  const place = ordinalIn(i18n.language, at.position);
  return (
    <>
      {t('run.waits_slot', { place, length: at.length })} <Time at={at.since} />{' '}
      <Link to="/jobs/$id" params={{ id: run.job_id }} className="link underline">
        {t('run.queue')}
      </Link>
    </>
  );
}

// Null if the run does not wait for a slot of a group, or left the queue while it was read.
function groupPlace(run: Run): { group: string; position: number; length?: number; since: string } | null {
  const { code, group, position, length, since } = run.waiting ?? {};
  return code === 'group' && group !== undefined && position !== undefined && since !== undefined
    ? { group, position, length, since }
    : null;
}

function WaitsForGroup(at: { group: string; position: number; length?: number; since: string }) {
  const { t, i18n } = useTranslation();
  const place = ordinalIn(i18n.language, at.position);
  const { group, length } = at;
  return (
    <>
      {length === undefined
        ? t('run.waits_group', { group, place })
        : t('run.waits_group_of', { group, place, length })}{' '}
      <Time at={at.since} />{' '}
      <Link to="/groups/$name" params={{ name: group }} className="link underline">
        {t('run.view_group')}
      </Link>
    </>
  );
}
