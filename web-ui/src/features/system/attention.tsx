// Card of the problems that a person must solve. Each problem has its reason and a link.
import '../overview/texts.en';
import './texts.en';
import { Link } from '@tanstack/react-router';
import { CircleCheck, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { itemsOf, totalOf, useExecutors, useFailingJobs, useGaps, useRuns } from '../../api/queries';
import { serverNow } from '../../lib/server_clock';
import { GAP_REASONS, type FailingJob, type Page, type SystemStatus } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { count, span } from '../../lib/format';
import { isAwaited, useTell } from '../../lib/layout_hold';
import { usePreferences } from '../../lib/preferences';
import { Time } from '../../ui/time';
import { Card, Loading, explain } from '../../ui/ui';
import { skewOf } from './member_values';
import { dayBefore } from '../../lib/day_before';

const SHOWN = 6;
const LATE_MS = 5000;
const LETTERS_COUNTED_MAX = 10_000; // by the scheduler
const UNPLANNED_MAX = 100; // the server names no more
// Gaps are a problem only for these reasons. A gap that a pause has caused is not a problem.
const SURPRISING = GAP_REASONS.filter((reason) => reason !== 'paused');

interface Matter {
  key: string;
  text: ReactNode;
  link: ReactNode;
}

// Returns the number of rows that are not shown, as text. '' if all rows are shown.
function restOf(data: { pages: Page<unknown>[] } | undefined, shown: number, language: string): string {
  const total = totalOf(data);
  const hasMore = (data?.pages[0]?.next_page_token ?? null) !== null;
  const n = Math.max((total?.n ?? shown) - shown, hasMore ? 1 : 0);
  return n === 0 ? '' : count(n, language) + (total === null || total.more ? '+' : '');
}

export default function Attention({
  status,
  late,
  onKnown,
}: {
  status: SystemStatus;
  late: boolean;
  onKnown: () => void;
}) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const since = dayBefore(serverNow());
  const reads = [
    useRuns({ state: ['HELD'], page_size: SHOWN }),
    useFailingJobs({ page_size: SHOWN }),
    useExecutors(),
    useGaps({ page_size: SHOWN, since, reason: SURPRISING }),
  ] as const;
  const awaited = reads.some(isAwaited);
  useTell(!awaited, onKnown);
  // If a request takes too long, the card shows what is known without its response.
  if (awaited && !late) return <Loading />;
  const [held, failing, executors, gaps] = [
    itemsOf(reads[0].data),
    itemsOf(reads[1].data),
    itemsOf(reads[2].data),
    itemsOf(reads[3].data),
  ];
  const matters: Matter[] = [];
  // If a request failed, the card must not say that all is well.
  const failed = reads.find((one) => one.isError && !one.data);
  const see = t('overview.see');
  if (status.leader === null)
    matters.push({
      key: 'leader',
      text: t('system.no_leader'),
      link: (
        <Link to="/system" className="link">
          {see}
        </Link>
      ),
    });
  const skew = skewOf(status.members);
  if (skew)
    matters.push({
      key: 'skew',
      text: t('members.skew', { versions: skew }),
      link: (
        <Link to="/system" className="link">
          {see}
        </Link>
      ),
    });
  if (status.overload)
    matters.push({
      key: 'overload',
      text: t('overview.overload', {
        below: status.overload.below,
        span: span(status.overload.late_s * 1000, language),
      }),
      link: (
        <Link to="/runs" search={{ state: ['SKIPPED'] }} className="link">
          {see}
        </Link>
      ),
    });
  const letters = status.unpublished_letters?.count;
  if (letters)
    matters.push({
      key: 'letters',
      text: t('overview.letters', {
        n: count(letters, language) + (letters < LETTERS_COUNTED_MAX ? '' : '+'),
      }),
      link: (
        <Link to="/admin/dead-letters" className="link">
          {see}
        </Link>
      ),
    });
  if ((status.oldest_overdue_ms ?? 0) > LATE_MS) {
    matters.push({
      key: 'late',
      text: t('overview.overdue', { span: span(status.oldest_overdue_ms ?? 0, language) }),
      link: (
        <Link to="/runs" search={{ state: ['PENDING'] }} className="link">
          {see}
        </Link>
      ),
    });
  }
  const unplanned = status.unplanned_jobs ?? [];
  for (const job of unplanned.slice(0, SHOWN)) {
    matters.push({
      key: 'unplanned ' + job.job_id,
      text: t('overview.unplanned', { name: job.job_name }),
      link: (
        <Link
          to="/jobs/$id"
          params={{ id: job.job_id }}
          search={{ tab: 'why', at: job.fire_time }}
          className="link"
        >
          {t('why.short')}
        </Link>
      ),
    });
  }
  if (unplanned.length > SHOWN) {
    const n = unplanned.length - SHOWN;
    matters.push({
      key: 'more unplanned',
      text: t('overview.more_unplanned', {
        n: count(n, language) + (unplanned.length === UNPLANNED_MAX ? '+' : ''),
        count: n,
      }),
      link: (
        <Link to="/jobs" className="link">
          {see}
        </Link>
      ),
    });
  }
  for (const run of held) {
    matters.push({
      key: run.run_id,
      text: t('overview.held', { name: run.job_name }),
      link: (
        <Link to="/runs/$id" params={{ id: run.run_id }} className="link">
          {see}
        </Link>
      ),
    });
  }
  const moreHeld = restOf(reads[0].data, held.length, language);
  if (moreHeld)
    matters.push({
      key: 'more held',
      text: t('overview.more_held', { n: moreHeld, count: moreHeld === '1' ? 1 : 2 }),
      link: (
        <Link to="/runs" search={{ state: ['HELD'] }} className="link">
          {see}
        </Link>
      ),
    });
  for (const one of executors) {
    const state =
      one.state === 'LOST' || one.state === 'UNHEALTHY'
        ? one.state
        : one.draining
          ? 'DRAINING'
          : !one.enabled
            ? 'DISABLED'
            : null;
    if (state)
      matters.push({
        key: one.executor_id,
        text: t('overview.executor', { name: one.executor_id, state: t(`state.${state}`) }),
        link: (
          <Link to="/executors" className="link">
            {see}
          </Link>
        ),
      });
  }
  for (const gap of gaps) {
    matters.push({
      key: `gap ${gap.schedule_id} ${gap.from}`,
      text: t('overview.gap', { name: gap.job_id, n: gap.count, count: gap.count }),
      link: (
        <Link
          to="/jobs/$id"
          params={{ id: gap.job_id }}
          search={{ tab: 'why', at: gap.from }}
          className="link"
        >
          {t('why.short')}
        </Link>
      ),
    });
  }
  const moreGaps = restOf(reads[3].data, gaps.length, language);
  if (moreGaps)
    matters.push({
      key: 'more gaps',
      text: t('overview.more_gaps', { n: moreGaps, count: moreGaps === '1' ? 1 : 2 }),
      link: (
        <Link to="/gaps" search={{ since, reason: SURPRISING }} className="link">
          {see}
        </Link>
      ),
    });
  for (const job of failing) {
    matters.push({
      key: 'failing ' + job.job_id,
      text: <Failing job={job} />,
      link: (
        <Link to="/admin/dead-letters" search={{ job_id: job.job_id }} className="link">
          {see}
        </Link>
      ),
    });
  }
  const moreFailing = restOf(reads[1].data, failing.length, language);
  if (moreFailing)
    matters.push({
      key: 'more failing',
      text: t('overview.more_failing', { n: moreFailing, count: moreFailing === '1' ? 1 : 2 }),
      link: (
        <Link to="/admin/dead-letters" className="link">
          {see}
        </Link>
      ),
    });
  return (
    <Card title={t('overview.attention')} flush>
      {matters.length === 0 && awaited ? (
        <Loading />
      ) : matters.length === 0 && failed ? (
        <p role="status" className="p-8 text-center text-warn">
          {explain(failed.error, t)}
        </p>
      ) : matters.length === 0 ? (
        <p className="flex items-center justify-center gap-2 p-8 text-muted">
          <CircleCheck aria-hidden size={17} className="text-ok" />
          {t('overview.nothing')}
        </p>
      ) : (
        <ul>
          {matters.map((one) => (
            <li key={one.key} className="flex items-center gap-3 border-b px-4 py-2.5 last:border-b-0">
              <TriangleAlert aria-hidden size={16} className="shrink-0 text-warn" />
              <span className="min-w-0 flex-1 break-words">{one.text}</span>
              {one.link}
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function Failing({ job }: { job: FailingJob }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  return (
    <>
      {t('overview.failing', {
        name: job.job_name || job.job_id,
        n: count(job.failures, language) + (job.more_failures ? '+' : ''),
        count: job.failures,
      })}
      <span className="block text-xs text-muted">
        {t('overview.since')} <Time at={job.failing_since} past />
        {' · '}
        {job.last_success_time ? (
          <>
            {t('overview.last_success')} <Time at={job.last_success_time} past />
          </>
        ) : (
          t('overview.no_success')
        )}
      </span>
    </>
  );
}
