// Sections of the form: what to run, when, where, and on failure. Notifications are in
// ./notifications_section.
import './texts.en';
import { Suspense, lazy, useEffect, useRef, type ReactNode } from 'react';
import { useFormContext, useWatch, type FieldPath } from 'react-hook-form';
import { useGroupNames } from '../../../api/groups';
import { useNamespaces } from '../../../api/queries';
import { problemText } from '../../../i18n/problems';
import { useTextOr } from '../../../i18n/text_or';
import { useTranslation } from '../../../i18n/use_translation';
import { early } from '../../../lib/preload';
import { Field } from '../../../ui/field';
import { Card } from '../../../ui/ui';
import { ZoneOptions } from '../../../ui/zone_options';
import { COLUMNS, Choose, ChooseName, Text, useError } from './form_fields';
import type { Definition } from './definition';
import { schedulesOf, fieldOf } from './form_values';
import { KINDS, OVERLAP_POLICIES, isPresumable, limitsRuns, type FormValues } from './form_schema';
import { OwnerField } from './owner_field';
import { RuleRows } from '../rules/rule_rows';
import { HttpFields } from '../http/http_fields';
import { IsolationFields } from '../isolation/isolation_fields';
import { ISOLATION_DEFAULTS, isIsolated, type IsolationValues } from '../isolation/isolation_values';
import { ContainerFields } from '../container/container_fields';
import { FanOutFields } from '../fan_out/fan_out_fields';
import { ScriptFields } from '../script/script_fields';
import { AddSchedule, LimitSchedule, ScheduleRows } from './schedule_rows';
import { PreviewPanel, usePreview } from './preview';
import { TellSection } from './notifications_section';
import { UpstreamJob, UpstreamResult } from '../dependencies/upstream_fields';

// Words of the API.
const RETRY_ON_EXAMPLE = 'exit:75, exit:100-110, http:5xx';
const ROUTINGS = ['round_robin', 'random', 'least_loaded', 'first_healthy', 'weighted', 'consistent_hash'];
const NO_RETRY_ON_EXAMPLE = 'exit:2, signal';

const ISOLATION_FIELDS = Object.keys(ISOLATION_DEFAULTS) as (keyof IsolationValues)[];

const WorkflowField = lazy(() => import('../workflow/workflow_field'));
const TriggerFields = lazy(() => import('../events/trigger_fields'));
const WaitsFields = early(() => import('../waits/waits_fields'));

export function FormSections(props: { isNew: boolean; base: Definition }) {
  return (
    <div className="grid gap-4">
      <What isNew={props.isNew} />
      <When base={props.base} />
      <Where />
      <OnFailure />
      <TellSection />
    </div>
  );
}

function What({ isNew }: { isNew: boolean }) {
  const { t } = useTranslation();
  const { register } = useFormContext<FormValues>();
  const type = useWatch<FormValues, 'type'>({ name: 'type' });
  return (
    <Card title={t('form.what')}>
      <div className={COLUMNS}>
        <Text name="name" label={t('form.name')} />
        {isNew ? <Text name="job_id" label={t('form.job_id')} mono hint={t('form.job_id_hint')} /> : <span />}
        <Text name="description" label={t('form.description')} />
        <Namespace />
        <Choose
          name="type"
          label={t('form.type')}
          values={['shell', 'script', 'http', 'handler', 'container', 'workflow', 'noop']}
        />
        <label className="flex items-center gap-2 self-center">
          <input type="checkbox" className="size-4 accent-accent" {...register('enabled')} />
          {t('form.enabled')}
        </label>
        {type === 'shell' && (
          <Text
            name="command"
            label={t('form.command')}
            mono
            rows={5}
            hint={t('form.command_hint')}
            className="sm:col-span-2"
          />
        )}
        {type === 'script' && <ScriptFields />}
        {type === 'container' && <ContainerFields />}
        {type === 'http' && <HttpFields />}
        {type === 'handler' && (
          <Text name="handler" label={t('form.handler')} mono hint={t('form.handler_hint')} />
        )}
        {type === 'workflow' && (
          <Suspense>
            <WorkflowField isNew={isNew} />
          </Suspense>
        )}
      </div>
      {isIsolated(type) && (
        <More label={t('form.isolation')} names={ISOLATION_FIELDS}>
          <IsolationFields contained={type === 'container'} />
        </More>
      )}
      <More label={t('form.more_what')} names={['labels', 'env', 'parameters', 'rules', 'user_id']}>
        <Text name="labels" label={t('form.labels')} mono rows={3} hint={t('form.lines_hint')} />
        {type !== 'http' && type !== 'workflow' && (
          <Text name="env" label={t('form.env')} mono rows={3} hint={t('form.lines_hint')} />
        )}
        <Text
          name="parameters"
          label={t('form.parameters')}
          mono
          rows={3}
          hint={t('form.parameters_hint')}
          className="sm:col-span-2"
        />
        <RuleRows />
        <OwnerField />
      </More>
    </Card>
  );
}

// Fields that are seldom needed. The section opens by itself if one of them has an error.
function More({
  label,
  names,
  children,
}: {
  label: string;
  names: readonly (keyof FormValues)[];
  children: ReactNode;
}) {
  const {
    formState: { errors },
  } = useFormContext<FormValues>();
  const box = useRef<HTMLDetailsElement>(null);
  const wrong = names.some((name) => errors[name] !== undefined);
  useEffect(() => {
    if (wrong) box.current!.open = true;
  }, [wrong]);
  return (
    <details ref={box} className="mt-3">
      <summary className="py-1 text-accent">{label}</summary>
      <div className={COLUMNS + ' mt-2'}>{children}</div>
    </details>
  );
}

// Suggests the existing namespaces; any other name creates one.
function Namespace() {
  const { t } = useTranslation();
  const namespaces = useNamespaces();
  return (
    <div>
      <Text
        name="namespace"
        label={t('jobs.namespace')}
        hint={t('form.namespace_hint')}
        list="namespaces"
        placeholder="default"
      />
      <datalist id="namespaces">
        {namespaces.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </datalist>
    </div>
  );
}

const PRESETS = [
  ['preset.minutes', '*/5 * * * *'],
  ['preset.hourly', '0 * * * *'],
  ['preset.daily', '0 2 * * *'],
  ['preset.weekdays', '0 9 * * MON-FRI'],
  ['preset.weekly', '0 3 * * SUN'],
  ['preset.monthly', '0 4 1 * *'],
] as const;

function When({ base }: { base: Definition }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const { setValue } = useFormContext<FormValues>();
  const values = useWatch<FormValues>() as FormValues;
  const known = useError();
  const several = values.kind === 'several';
  const empty =
    values.kind === 'manual' ||
    (values.kind === 'cron' && values.cron_expression.trim() === '') ||
    ((values.kind === 'rate' || values.kind === 'delay') && !(+values.every_s > 0)) ||
    (values.kind === 'once' && values.at.trim() === '') ||
    (values.kind === 'after' && values.upstream.trim() === '') ||
    (values.kind === 'event' && values.event_type.trim() === '') ||
    (several && values.schedules.length === 0);
  const schedules = schedulesOf(values);
  const jobId = typeof base.job_id === 'string' ? base.job_id : undefined;
  const preview = usePreview(
    empty
      ? null
      : {
          schedules,
          time_zone: values.time_zone.trim() || 'UTC',
          dst_gap: values.dst_gap,
          dst_repeat: values.dst_repeat,
          ...(jobId === undefined ? {} : { job_id: jobId }),
        },
  );
  const wrong = (field: FieldPath<FormValues>) => {
    const found = empty
      ? undefined
      : preview.data?.errors.find((one) => fieldOf(one.pointer, several) === field);
    return known(field) ?? (found && problemText('field', found.code, found.detail));
  };
  return (
    <Card title={t('form.when')}>
      <div className="grid gap-x-6 gap-y-4 lg:grid-cols-2">
        <div className="grid content-start gap-3">
          <Choose name="kind" label={t('form.kind')} values={KINDS} />
          {values.kind === 'cron' && (
            <CronField
              error={wrong('cron_expression')}
              onPreset={(cron) =>
                setValue('cron_expression', cron, { shouldDirty: true, shouldValidate: true })
              }
            />
          )}
          {values.kind === 'rate' && <Text name="every_s" label={t('form.every')} numeric />}
          {values.kind === 'delay' && (
            <Text name="every_s" label={t('form.delay')} numeric hint={t('form.delay_hint')} />
          )}
          {values.kind === 'once' && (
            <Text name="at" label={t('form.at')} mono placeholder="2026-12-24T18:00:00+01:00" />
          )}
          {values.kind === 'after' && (
            <>
              <UpstreamJob name="upstream" label={t('form.upstream')} error={wrong('upstream')} />
              <UpstreamResult name="on" label={t('form.on')} />
            </>
          )}
          {values.kind === 'event' && (
            <Suspense>
              <TriggerFields
                names={{
                  type: 'event_type',
                  source: 'event_source',
                  filter: 'event_filter',
                  parameters: 'event_parameters',
                }}
                jobId={jobId}
                errorOf={wrong}
              />
            </Suspense>
          )}
          {several && <ScheduleRows errorOf={wrong} jobId={jobId} />}
          {['cron', 'rate', 'delay'].includes(values.kind) && <LimitSchedule label="form.limit_schedule" />}
          {values.kind === 'after' && <LimitSchedule label="form.set_parameters" />}
          {!several && values.kind !== 'manual' && <AddSchedule />}
          <ZoneField error={wrong('time_zone')} />
        </div>
        <div className="min-w-0 rounded-md bg-code p-4" aria-live="polite">
          <h3 className="mb-2 text-xs font-medium text-muted">{t('preview.title')}</h3>
          <PreviewPanel
            preview={preview}
            crons={
              several
                ? values.schedules.filter((row) => row.kind === 'cron').map((row) => row.cron_expression)
                : values.kind === 'cron'
                  ? [values.cron_expression]
                  : []
            }
            schedules={schedules}
            active={!empty}
            manual={values.kind === 'manual'}
          />
        </div>
      </div>
      <More
        label={t('form.more_when')}
        names={[
          'misfire_policy',
          'misfire_grace',
          'catch_up_window',
          'catch_up_max',
          'overlap_policy',
          'max_running',
          'queue_max',
          'concurrency_group',
          'dst_gap',
          'dst_repeat',
        ]}
      >
        <Choose name="misfire_policy" label={t('form.misfire_policy')} values={['skip', 'latest', 'all']} />
        <Text
          name="misfire_grace"
          label={t('form.misfire_grace')}
          numeric
          hint={t('form.misfire_grace_hint')}
        />
        <Text
          name="catch_up_window"
          label={t('form.catch_up_window')}
          numeric
          hint={t('form.catch_up_window_hint')}
        />
        <Text name="catch_up_max" label={t('form.catch_up_max')} numeric hint={t('form.catch_up_max_hint')} />
        <Choose
          name="overlap_policy"
          label={t('form.overlap_policy')}
          values={OVERLAP_POLICIES}
          hint={textOr('form.overlap_hint.', values.overlap_policy)}
        />
        {limitsRuns(values.overlap_policy) && (
          <Text name="max_running" label={t('form.max_running')} numeric hint={t('form.max_running_hint')} />
        )}
        {values.overlap_policy === 'queue_all' && (
          <Text name="queue_max" label={t('form.queue_max')} numeric hint={t('form.queue_max_hint')} />
        )}
        {values.type !== 'workflow' && <Group />}
        <Choose name="dst_gap" label={t('form.dst_gap')} values={['fire', 'skip']} />
        <Choose name="dst_repeat" label={t('form.dst_repeat')} values={['auto', 'both', 'early', 'late']} />
      </More>
      <More
        label={t(values.waits.length > 0 ? 'form.waits_n' : 'form.waits', { n: values.waits.length })}
        names={['waits', 'wait_limit']}
      >
        <Suspense>
          <WaitsFields />
        </Suspense>
      </More>
    </Card>
  );
}

function Group() {
  const { t } = useTranslation();
  const groups = useGroupNames();
  return (
    <ChooseName
      name="concurrency_group"
      label={t('form.concurrency_group')}
      hint={t('form.concurrency_group_hint')}
      names={groups}
    />
  );
}

function CronField(props: { error?: string; onPreset: (cron: string) => void }) {
  const { t } = useTranslation();
  const { register } = useFormContext<FormValues>();
  return (
    <>
      <Field label={t('form.cron')} error={props.error} hint={t('form.cron_hint')}>
        <input
          className="input mono"
          spellCheck={false}
          autoComplete="off"
          placeholder="*/5 * * * *"
          {...register('cron_expression')}
        />
      </Field>
      <div className="flex flex-wrap gap-1.5" role="group" aria-label={t('preset.label')}>
        {PRESETS.map(([label, cron]) => (
          <button
            key={cron}
            type="button"
            className="min-h-7 rounded border bg-surface px-2.5 text-xs text-muted hover:text-ink"
            onClick={() => props.onPreset(cron)}
          >
            {t(label)}
          </button>
        ))}
      </div>
    </>
  );
}

function ZoneField(props: { error?: string }) {
  const { t } = useTranslation();
  const { register } = useFormContext<FormValues>();
  return (
    <>
      <Field label={t('form.zone')} error={props.error} hint={t('form.zone_hint')}>
        <input
          className="input"
          list="zones"
          autoComplete="off"
          spellCheck={false}
          {...register('time_zone')}
        />
      </Field>
      <ZoneOptions id="zones" />
    </>
  );
}

function Priority() {
  const { t } = useTranslation();
  return <Text name="priority" label={t('form.priority')} numeric hint={t('form.priority_hint')} />;
}

// A workflow has no place of its own, so its priority is among its limits.
function Where() {
  const { t } = useTranslation();
  const routing = useWatch<FormValues, 'routing'>({ name: 'routing' });
  const type = useWatch<FormValues, 'type'>({ name: 'type' });
  if (type === 'workflow') return null;
  return (
    <Card title={t('form.where')}>
      <div className={COLUMNS}>
        <Text
          name="executor_selector"
          label={t('form.executor_selector')}
          mono
          hint={t('form.selector_hint')}
          placeholder="zone = a, !spare"
        />
        <Text name="executor_id" label={t('form.executor_id')} mono hint={t('form.executor_hint')} />
        <Choose name="routing" label={t('form.routing')} values={ROUTINGS} />
        {routing === 'consistent_hash' && (
          <Text
            name="routing_key"
            label={t('form.routing_key')}
            mono
            placeholder="{{params.shop}}"
            hint={t('form.routing_key_hint')}
          />
        )}
        <FanOutFields />
        <Priority />
      </div>
    </Card>
  );
}

function OnFailure() {
  const { t } = useTranslation();
  const type = useWatch<FormValues, 'type'>({ name: 'type' });
  return (
    <Card title={t('form.on_failure')}>
      <div className={COLUMNS}>
        <Text name="timeout" label={t('form.timeout')} numeric />
        {type === 'workflow' ? <Priority /> : <Retries />}
        <Text
          name="pause_after_failures"
          label={t('form.pause_after_failures')}
          numeric
          hint={t('form.pause_after_failures_hint')}
        />
        <Text name="queue_timeout" label={t('form.queue_timeout')} numeric hint={t('form.queue_hint')} />
        <Text
          name="retention_days"
          label={t('form.retention_days')}
          numeric
          hint={t('form.retention_days_hint')}
        />
      </div>
    </Card>
  );
}

function Retries() {
  const { t } = useTranslation();
  const [type, on_lost] = useWatch<FormValues, ['type', 'on_lost']>({ name: ['type', 'on_lost'] });
  return (
    <>
      <Text name="kill_grace" label={t('form.kill_grace')} numeric />
      <Text name="retry_count" label={t('form.retry_count')} numeric />
      <Text name="retry_interval" label={t('form.retry_interval')} numeric />
      <Choose name="retry_backoff" label={t('form.retry_backoff')} values={['fixed', 'exponential']} />
      <Text
        name="retry_intervals"
        label={t('form.retry_intervals')}
        mono
        placeholder="10, 60, 600"
        hint={t('form.retry_intervals_hint')}
      />
      <Text
        name="retry_on"
        label={t('form.retry_on')}
        mono
        placeholder={RETRY_ON_EXAMPLE}
        hint={t('form.retry_on_hint')}
      />
      <Text
        name="no_retry_on"
        label={t('form.no_retry_on')}
        mono
        placeholder={NO_RETRY_ON_EXAMPLE}
        hint={t('form.no_retry_on_hint')}
      />
      <Choose name="on_lost" label={t('form.on_lost')} values={['retry', 'fail', 'hold']} />
      {isPresumable({ type, on_lost }) && (
        <Text
          name="presume_dead_s"
          label={t('form.presume_dead_s')}
          numeric
          hint={t('form.presume_dead_s_hint')}
        />
      )}
    </>
  );
}
