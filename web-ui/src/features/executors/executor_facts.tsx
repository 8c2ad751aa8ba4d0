// Load, slots and state of an executor. The list of executors and the page of an executor show them.
import './texts.en';
import type { Executor } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { Bar } from '../../ui/bar';
import { count, percent } from '../../lib/format';
import { usePreferences } from '../../lib/preferences';
import { StateBadge } from '../../ui/state_badge';

export function States({ executor }: { executor: Executor }) {
  return (
    <span className="flex flex-wrap gap-1.5">
      <StateBadge state={executor.state} />
      {executor.draining && <StateBadge state="DRAINING" />}
      {!executor.enabled && <StateBadge state="DISABLED" />}
    </span>
  );
}

export function Slots({ running, slots }: { running: number; slots: number }) {
  const { t } = useTranslation();
  return (
    <div className="w-28">
      <span className="tabular-nums">{t('executors.slots_of', { running, slots })}</span>
      <Bar
        share={slots > 0 ? running / slots : 0}
        fill={running > slots * 0.9 ? 'fill-warn' : undefined}
        className="mt-1 h-1.5 w-full rounded-full"
      />
    </div>
  );
}

// Number of tasks that were sent to the executor and that the executor has not yet handled.
export function Behind({ tasks }: { tasks: number | null | undefined }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  if (tasks === null || tasks === undefined)
    return (
      <span className="text-muted" title={t('behind.unknown')}>
        –
      </span>
    );
  return <span className={'tabular-nums' + (tasks > 0 ? '' : ' text-muted')}>{count(tasks, language)}</span>;
}

export function Load({ load }: { load: Executor['load'] }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  return (
    <span className="flex flex-wrap gap-x-3 text-muted tabular-nums">
      {(['cpu', 'memory', 'disk', 'io'] as const).map((kind) => (
        <span key={kind} className="whitespace-nowrap">
          {t(`load.${kind}`)} <span className="text-ink">{percent(load[kind], language)}</span>
        </span>
      ))}
    </span>
  );
}

// The names are those of the API, which selectors and messages use too.
export function Features({ names }: { names: readonly string[] | null | undefined }) {
  return <span className="mono">{names?.length ? names.join(', ') : '–'}</span>;
}
