// Card of the problems that need a person, each with its reason and a link.
import '../../i18n/seldom';
import { Link } from '@tanstack/react-router';
import { CircleCheck, TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { itemsOf, useDeadLetters, useExecutors, useGaps, useRuns } from '../../api/queries';
import { serverNow } from '../../api/reachability';
import { GAP_REASONS, type SystemStatus } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { span } from '../../shared/format';
import { isAwaited, useTell } from '../../shared/known';
import { Card, Loading, explain } from '../../shared/ui';
import { skewOf } from '../system/member_values';
import { dayBefore } from './tile_values';

const SHOWN = 6;
const LATE_MS = 5000;
// What a person paused is none.
const SURPRISING = GAP_REASONS.filter((reason) => reason !== 'paused');

interface Matter {
  key: string;
  text: string;
  link: ReactNode;
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
  const reads = [
    useRuns({ state: ['HELD'], page_size: SHOWN }),
    useDeadLetters(),
    useExecutors(),
    useGaps({ page_size: SHOWN, since: dayBefore(serverNow()), reason: SURPRISING }),
  ] as const;
  const awaited = reads.some(isAwaited);
  useTell(!awaited, onKnown);
  // What is known is worth more than what hangs.
  if (awaited && !late) return <Loading />;
  const [held, dead, executors, gaps] = [
    itemsOf(reads[0].data),
    itemsOf(reads[1].data),
    itemsOf(reads[2].data),
    itemsOf(reads[3].data),
  ];
  const missed = gaps.slice(0, SHOWN);
  const matters: Matter[] = [];
  const failed = reads.find((one) => one.isError && !one.data); // no tick for what could not be looked at
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
  if ((status.oldest_overdue_ms ?? 0) > LATE_MS) {
    matters.push({
      key: 'late',
      text: t('overview.overdue', { span: span(status.oldest_overdue_ms ?? 0) }),
      link: (
        <Link to="/runs" search={{ state: ['PENDING'] }} className="link">
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
  for (const gap of missed) {
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
  const jobs = new Map<string, number>();
  for (const letter of dead) jobs.set(letter.job_id, (jobs.get(letter.job_id) ?? 0) + 1);
  for (const [job, n] of [...jobs].slice(0, SHOWN)) {
    matters.push({
      key: 'dead ' + job,
      text: t('overview.dead', { name: job, n, count: n }),
      link: (
        <Link to="/admin/dead-letters" search={{ job_id: job }} className="link">
          {see}
        </Link>
      ),
    });
  }
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
