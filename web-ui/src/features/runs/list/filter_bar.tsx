// Filters of the list of runs. All filters are in the URL.
import './texts.en';
import { X } from 'lucide-react';
import { itemsOf, useExecutors } from '../../../api/queries';
import { RUN_STATES } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { SearchField } from '../../../ui/search_field';
import { NamespaceFilter } from '../../lists/filters/namespace_filter';
import { KindFilter, OwnerFilter } from '../../lists/filters/run_filters';
import { StateChip, StateFilter } from '../../lists/filters/state_filter';
import { TimeRange } from '../../lists/filters/time_range';

export interface RunSearch {
  state?: string[];
  waiting?: 'upstream_run' | 'approval' | 'time';
  kind?: string[];
  job_id?: string;
  namespace?: string[];
  user_id?: string;
  executor_id?: string;
  since?: string;
  until?: string;
}

const WAITS = ['upstream_run', 'approval'] as const;
const PERIODS_H = [1, 24, 168] as const;

export default function FilterBar(props: {
  search: RunSearch;
  set: (change: Partial<RunSearch>) => void;
  onClear: (() => void) | undefined;
}) {
  const { t } = useTranslation();
  const { search, set } = props;
  const executors = itemsOf(useExecutors().data);
  return (
    <>
      <div className="flex flex-wrap gap-1.5">
        <StateFilter
          states={RUN_STATES}
          chosen={search.state ?? []}
          onChange={(state) => set({ state, waiting: undefined })}
        />
        {WAITS.map((one) => (
          <StateChip
            key={one}
            on={search.waiting === one}
            onClick={() => set({ waiting: search.waiting === one ? undefined : one, state: undefined })}
          >
            {t(one === 'approval' ? 'runs.undecided' : 'runs.waiting')}
          </StateChip>
        ))}
      </div>
      <div className="flex flex-wrap items-center gap-2">
        <SearchField
          label={t('runs.job_id')}
          value={search.job_id ?? ''}
          onChange={(job_id) => set({ job_id: job_id || undefined })}
        />
        <select
          className="input w-auto"
          aria-label={t('runs.executor')}
          value={search.executor_id ?? ''}
          onChange={(event) => set({ executor_id: event.target.value || undefined })}
        >
          <option value="">{t('runs.any_executor')}</option>
          {search.executor_id && !executors.some((one) => one.executor_id === search.executor_id) && (
            <option value={search.executor_id}>{search.executor_id}</option>
          )}
          {executors.map((one) => (
            <option key={one.executor_id} value={one.executor_id}>
              {one.executor_id}
            </option>
          ))}
        </select>
        <KindFilter chosen={search.kind} onChange={(kind) => set({ kind })} />
        <NamespaceFilter chosen={search.namespace} onChange={(namespace) => set({ namespace })} />
        <OwnerFilter chosen={search.user_id} onChange={(user_id) => set({ user_id })} />
        <Since value={search.since} onChange={(since) => set({ since })} />
        <TimeRange since={search.since} until={search.until} onChange={set} />
        {props.onClear && (
          <button type="button" className="button button-plain" onClick={props.onClear}>
            <X aria-hidden size={15} />
            {t('empty.clear')}
          </button>
        )}
      </div>
    </>
  );
}

export function Since(props: { value: string | undefined; onChange: (value: string | undefined) => void }) {
  const { t } = useTranslation();
  return (
    <select
      className="input w-auto"
      aria-label={t('runs.since')}
      value={props.value ?? ''}
      onChange={(event) => {
        const hours = Number(event.target.value);
        if (event.target.value === '') props.onChange(undefined);
        else if (hours > 0) props.onChange(new Date(Date.now() - hours * 3_600_000).toISOString());
      }}
    >
      <option value="">{t('runs.any_time')}</option>
      {props.value && (
        <option value={props.value}>
          {t('runs.since_at', { at: props.value.slice(0, 16).replace('T', ' ') })}
        </option>
      )}
      {PERIODS_H.map((hours) => (
        <option key={hours} value={hours}>
          {t(`runs.last_${hours}h`)}
        </option>
      ))}
    </select>
  );
}
