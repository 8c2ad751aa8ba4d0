// Tab of a job with its definition: its settings in words, and as YAML.
import './texts.en';
import '../form/texts.en';
import '../list/texts.en';
import { Link } from '@tanstack/react-router';
import type { TFunction } from 'i18next';
import { stringify } from 'yaml';
import type { Job } from '../../../api/types';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { span } from '../../../lib/format';
import { usePreferences } from '../../../lib/preferences';
import { Time } from '../../../ui/time';
import { Card, Facts } from '../../../ui/ui';
import { ExecutorLink } from '../../lists/runs/executor_link';
import { definitionOf } from '../form/form_values';
import { limitsRuns } from '../form/form_schema';
import { useOwnerText } from '../../users/owners';
import { NamespaceLink } from '../list/namespace_link';
import { NotificationFact } from './notifications_fact';
import { containerFacts } from '../container/container_facts';
import { fanOutFacts } from '../fan_out/fan_out_facts';
import { httpFacts } from '../http/http_facts';
import { isolationFacts } from '../isolation/isolation_facts';
import { waitsFacts } from '../waits/waits_facts';
import { zoneOf } from '../../schedule/schedule_text';

const Mono = ({ text }: { text: string }) => <span className="mono">{text}</span>;

const scriptFacts = (script: NonNullable<Job['script']>, t: TFunction) =>
  [
    [t('form.script_interpreter'), <Mono key="i" text={script.interpreter} />],
    ...(script.args?.length
      ? [[t('form.script_args'), <Mono key="a" text={script.args.join(' ')} />] as const]
      : []),
    [
      t('form.script_body'),
      <pre key="b" className="mono overflow-x-auto rounded bg-code p-3 whitespace-pre-wrap">
        {script.body}
      </pre>,
    ],
  ] as const;

export function ConfigurationTab({ job }: { job: Job }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  const ownerOf = useOwnerText();
  const textOr = useTextOr();
  const seconds = (value: number) => (value === 0 ? t('none') : span(value * 1000, language));
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Card title={t('form.what')} className="lg:col-span-2">
        <Facts
          items={[
            [t('form.type'), textOr('option.type.', job.type)],
            ...(job.command === undefined || job.type !== 'shell'
              ? []
              : [
                  [
                    t('form.command'),
                    <pre key="c" className="mono overflow-x-auto rounded bg-code p-3 whitespace-pre-wrap">
                      {job.command}
                    </pre>,
                  ] as const,
                ]),
            ...(job.script ? scriptFacts(job.script, t) : []),
            ...(job.container ? containerFacts(job.container, t) : []),
            ...(job.http ? httpFacts(job.http, t) : []),
            ...(job.handler
              ? [
                  [
                    t('form.handler'),
                    <span key="h" className="mono">
                      {job.handler}
                    </span>,
                  ] as const,
                ]
              : []),
            ...isolationFacts(job, t),
            ...(job.namespace ? [[t('jobs.namespace'), <NamespaceLink key="ns" job={job} />] as const] : []),
            [t('jobs.owner'), ownerOf(job.user_id)],
            [t('jobs.version'), 'v' + job.version],
            [t('jobs.changed'), <Time key="u" at={job.update_time} zone={zoneOf(job)} />],
            [t('jobs.created'), <Time key="n" at={job.create_time} zone={zoneOf(job)} />],
          ]}
        />
      </Card>
      <Card title={t('form.where')}>
        <Facts
          items={[
            [
              t('form.executor_selector'),
              <span key="s" className="mono">
                {job.executor_selector || t('anywhere')}
              </span>,
            ],
            [t('form.executor_id'), <ExecutorLink key="e" id={job.executor_id} />],
            [t('form.routing'), textOr('option.routing.', job.routing)],
            ...(job.routing_key
              ? [[t('form.routing_key'), <Mono key="k" text={job.routing_key} />] as const]
              : []),
            ...fanOutFacts(job, t),
            [t('form.priority'), job.priority],
          ]}
        />
      </Card>
      <Card title={t('form.on_failure')}>
        <Facts
          items={[
            [t('jobs.timeout'), seconds(job.timeout)],
            [t('jobs.queue_timeout'), seconds(job.queue_timeout)],
            [t('form.retry_count'), job.retry_count],
            [t('jobs.retry_interval'), seconds(job.retry_interval)],
            ...(job.retry_on?.length
              ? [[t('form.retry_on'), <Mono key="r" text={job.retry_on.join(', ')} />] as const]
              : []),
            ...(job.no_retry_on?.length
              ? [[t('form.no_retry_on'), <Mono key="nr" text={job.no_retry_on.join(', ')} />] as const]
              : []),
            ...(job.pause_after_failures
              ? [[t('form.pause_after_failures'), job.pause_after_failures] as const]
              : []),
            [t('form.on_lost'), textOr('option.on_lost.', job.on_lost)],
            ...(job.presume_dead_s ? [[t('form.presume_dead_s'), seconds(job.presume_dead_s)] as const] : []),
            ...waitsFacts(job, t, language),
            [t('form.misfire_policy'), textOr('option.misfire_policy.', job.misfire_policy)],
            [t('form.overlap_policy'), textOr('option.overlap_policy.', job.overlap_policy)],
            ...(limitsRuns(job.overlap_policy) && job.max_running !== undefined
              ? [[t('form.max_running'), job.max_running] as const]
              : []),
            ...(job.concurrency_group
              ? [
                  [
                    t('form.concurrency_group'),
                    <Link
                      key="g"
                      to="/groups/$name"
                      params={{ name: job.concurrency_group }}
                      className="link mono"
                    >
                      {job.concurrency_group}
                    </Link>,
                  ] as const,
                ]
              : []),
            ...(job.overlap_policy === 'queue_all' ? [[t('form.queue_max'), job.queue_max] as const] : []),
            [t('tell.fact'), <NotificationFact key="t" job={job} />],
          ]}
        />
      </Card>
      <Card title="YAML" className="lg:col-span-2">
        <pre className="mono overflow-x-auto whitespace-pre-wrap" data-testid="yaml">
          {stringify(definitionOf(job), { lineWidth: 0 })}
        </pre>
      </Card>
    </div>
  );
}
