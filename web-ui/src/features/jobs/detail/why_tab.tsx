// Tab that explains why a job ran or did not run at a given time. The explanation comes from the records.
import '../../gaps/texts.en';
import './texts.en';
import { useQuery } from '@tanstack/react-query';
import { Link, getRouteApi } from '@tanstack/react-router';
import { Search } from 'lucide-react';
import { useState, type FormEvent } from 'react';
import { get } from '../../../api/client';
import { serverNow } from '../../../lib/server_clock';
import type { Job, Why } from '../../../api/types';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { readable } from '../../../lib/format';
import { Time } from '../../../ui/time';
import { Card, Facts, LoadFailure, Loading } from '../../../ui/ui';
import { Field } from '../../../ui/field';
import { instantIn, localIn } from '../../../lib/zones';
import { jobPath } from '../actions/job_actions';
import { zoneOf } from '../../schedule/schedule_text';

const route = getRouteApi('/jobs/$id');

export default function WhyTab({ job }: { job: Job }) {
  const { t } = useTranslation();
  const zone = zoneOf(job);
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const asked = search.at ? Date.parse(search.at) : NaN;
  const [local, setLocal] = useState(() =>
    localIn(zone, Number.isNaN(asked) ? serverNow() - 3_600_000 : asked),
  );
  const [wrong, setWrong] = useState(false);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const at = instantIn(zone, local);
    setWrong(Number.isNaN(at));
    if (!Number.isNaN(at))
      void navigate({ search: (before) => ({ ...before, at: new Date(at).toISOString() }) });
  };
  return (
    <div className="grid gap-4">
      <Card title={t('why.title')}>
        <form className="flex flex-wrap items-start gap-3" noValidate onSubmit={submit}>
          <Field
            label={t('why.at', { zone })}
            hint={t('why.hint')}
            error={wrong ? t('why.no_time') : undefined}
          >
            <input
              type="datetime-local"
              className="input w-60"
              value={local}
              onChange={(event) => setLocal(event.target.value)}
            />
          </Field>
          <button type="submit" className="button button-primary mt-6">
            <Search aria-hidden size={15} />
            {t('why.ask')}
          </button>
        </form>
      </Card>
      {search.at && <Answer job={job} at={search.at} />}
    </div>
  );
}

function Answer({ job, at }: { job: Job; at: string }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const why = useQuery({
    queryKey: ['jobs', job.job_id, 'why', at],
    queryFn: ({ signal }) => get<Why>(jobPath(job.job_id) + '/why', { at }, signal),
  });
  if (why.isPending) return <Loading />;
  if (!why.data) return <LoadFailure error={why.error} onRetry={() => void why.refetch()} />;
  const answer = why.data;
  const gap = answer.gap;
  return (
    <Card title={textOr('why.outcome.', answer.outcome)}>
      <div role="status">
        <p lang="en" className="mb-4 font-medium" data-testid="why">
          {readable(answer.explanation)}
        </p>
      </div>
      <Facts
        items={[
          [t('why.asked'), <Time key="a" at={answer.at} zone={zoneOf(job)} absolute />],
          ...(answer.fire_time
            ? [[t('runs.fire'), <Time key="f" at={answer.fire_time} zone={zoneOf(job)} absolute />] as const]
            : []),
          ...(answer.job_version
            ? [
                [
                  t('jobs.version'),
                  <Link
                    key="v"
                    to="/jobs/$id"
                    params={{ id: job.job_id }}
                    search={{ tab: 'versions' }}
                    className="link"
                  >
                    v{answer.job_version}
                  </Link>,
                ] as const,
              ]
            : []),
          ...(answer.run_id
            ? [
                [
                  t('nav.runs'),
                  <Link key="r" to="/runs/$id" params={{ id: answer.run_id }} className="link mono">
                    {answer.run_id}
                  </Link>,
                ] as const,
              ]
            : []),
          ...(gap
            ? [
                [
                  t('gaps.title'),
                  <span key="g">
                    {t('gaps.line', { count: gap.count, reason: textOr('reason.', gap.reason) })}{' '}
                    <Time at={gap.from} zone={zoneOf(job)} absolute /> –{' '}
                    <Time at={gap.to} zone={zoneOf(job)} absolute />
                  </span>,
                ] as const,
              ]
            : []),
          ...(answer.cluster_pause
            ? [
                [
                  t('why.cluster_pause'),
                  <span key="p">
                    <Time at={answer.cluster_pause.since} zone={zoneOf(job)} absolute /> –{' '}
                    <Time at={answer.cluster_pause.until} zone={zoneOf(job)} absolute />{' '}
                    {answer.cluster_pause.by}: {answer.cluster_pause.reason}
                  </span>,
                ] as const,
              ]
            : []),
        ]}
      />
    </Card>
  );
}
