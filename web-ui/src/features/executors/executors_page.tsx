// Who runs the jobs: state, age of the last heartbeat, labels, load; enable, disable, drain, label.
import '../../i18n/more';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { Ban, Play, Tags, Wrench } from 'lucide-react';
import { useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { call } from '../../api/client';
import { itemsOf, useExecutors } from '../../api/queries';
import type { Executor } from '../../api/types';
import { useMay } from '../../auth/session';
import { percent } from '../../shared/format';
import { usePreferences } from '../../shared/preferences';
import { StateBadge } from '../../shared/state_badge';
import { Time } from '../../shared/time';
import { toast, toastError } from '../../shared/toasts';
import { Modal } from '../../shared/modal';
import { EmptyYet, Labels, LoadFailure, Loading, PageHeader, TableFrame, explain } from '../../shared/ui';
import { linesOf } from '../jobs/form_values';

const path = (id: string) => 'executors/' + encodeURIComponent(id);

export function ExecutorsPage() {
  const { t } = useTranslation();
  const executors = useExecutors();
  const items = itemsOf(executors.data);
  const [labelling, setLabelling] = useState<Executor | null>(null);
  return (
    <>
      <PageHeader title={t('nav.executors')} documentTitle={t('nav.executors')} under={t('executors.under')} />
      <div className="card overflow-hidden">
        {executors.isPending ? <Loading />
          : executors.isError && items.length === 0 ? <LoadFailure error={executors.error} onRetry={() => void executors.refetch()} />
          : items.length === 0 ? <EmptyYet title={t('executors.none')} hint={t('executors.none_hint')} command="carillon-executor --config executor.yaml" />
          : (
            <TableFrame label={t('nav.executors')}>
              <table className="table cards">
                <thead><tr>
                  <th scope="col">{t('executors.name')}</th><th scope="col">{t('runs.state')}</th>
                  <th scope="col">{t('executors.slots')}</th><th scope="col">{t('executors.load')}</th>
                  <th scope="col">{t('executors.heartbeat')}</th><th scope="col">{t('executors.version')}</th>
                  <th scope="col"><span className="sr-only">{t('actions')}</span></th>
                </tr></thead>
                <tbody>{items.map((one) => <Row key={one.executor_id} executor={one} onLabel={() => setLabelling(one)} />)}</tbody>
              </table>
            </TableFrame>
          )}
      </div>
      {labelling && <LabelDialog key={labelling.executor_id} executor={labelling} onClose={() => setLabelling(null)} />}
    </>
  );
}

function Row({ executor, onLabel }: { executor: Executor; onLabel: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const may = useMay('executors:write');
  const why = may ? undefined : t('denied.write');
  const act = useMutation({
    mutationFn: (verb: 'enable' | 'disable' | 'drain') => call<Executor>('POST', `${path(executor.executor_id)}/${verb}`, { body: {} }),
    onSuccess: (_answer, verb) => {
      toast(t(`executors.done_${verb}`, { name: executor.executor_id }));
      void client.invalidateQueries({ queryKey: ['executors'] });
    },
    onError: (error) => toastError(t('error.action'), explain(error, t)),
  });
  const free = executor.enabled && !executor.draining;
  return (
    <tr>
      <td data-column="name">
        <Link to="/runs" search={{ executor_id: executor.executor_id }} className="font-medium whitespace-nowrap text-ink no-underline hover:underline">{executor.executor_id}</Link>
        <div className="mt-0.5 flex flex-wrap items-center gap-2"><span className="text-xs text-muted">{executor.host}</span><Labels labels={executor.labels} /></div>
      </td>
      <td><span className="flex flex-wrap gap-1.5">
        <StateBadge state={executor.state} />
        {executor.draining && <StateBadge state="DRAINING" />}
        {!executor.enabled && <StateBadge state="DISABLED" />}
      </span></td>
      <td><Slots running={executor.running} slots={executor.slots} /></td>
      <td><Load load={executor.load} /></td>
      <td><Time at={executor.last_heartbeat_time} /></td>
      <td className="text-muted">{executor.version}</td>
      <td data-column="actions">
        <div className="flex flex-wrap justify-end gap-1">
          {free ? (
            <>
              <button type="button" className="button" disabled={!may || act.isPending} title={why ?? t('executors.drain_hint')} onClick={() => act.mutate('drain')}><Wrench aria-hidden size={15} />{t('executors.drain')}</button>
              <button type="button" className="button" disabled={!may || act.isPending} title={why} onClick={() => act.mutate('disable')}><Ban aria-hidden size={15} />{t('executors.disable')}</button>
            </>
          ) : (
            <button type="button" className="button" disabled={!may || act.isPending} title={why} onClick={() => act.mutate('enable')}><Play aria-hidden size={15} />{t('executors.enable')}</button>
          )}
          <button type="button" className="button" disabled={!may} title={why} onClick={onLabel}><Tags aria-hidden size={15} />{t('executors.labels')}</button>
        </div>
      </td>
    </tr>
  );
}

function Slots({ running, slots }: { running: number; slots: number }) {
  const { t } = useTranslation();
  return (
    <div className="w-28">
      <span className="tabular-nums">{t('executors.slots_of', { running, slots })}</span>
      <Bar share={slots > 0 ? running / slots : 0} />
    </div>
  );
}

function Bar({ share }: { share: number }) {
  return (
    <svg aria-hidden viewBox="0 0 100 6" preserveAspectRatio="none" className="mt-1 block h-1.5 w-full rounded-full">
      <rect width="100" height="6" className="fill-raised" />
      <rect width={Math.min(100, Math.max(0, share * 100))} height="6" className={share > 0.9 ? 'fill-warn' : 'fill-accent'} />
    </svg>
  );
}

function Load({ load }: { load: Executor['load'] }) {
  const { t } = useTranslation();
  const { language } = usePreferences();
  return (
    <span className="flex flex-wrap gap-x-3 text-muted tabular-nums">
      {(['cpu', 'memory', 'disk', 'io'] as const).map((kind) => (
        <span key={kind} className="whitespace-nowrap">{t(`load.${kind}`)} <span className="text-ink">{percent(load[kind], language)}</span></span>
      ))}
    </span>
  );
}

function LabelDialog({ executor, onClose }: { executor: Executor; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const id = useId();
  const [text, setText] = useState(() => Object.entries(executor.labels).map(([name, value]) => `${name}=${value}`).join('\n'));
  const labels = linesOf(text);
  const save = useMutation({
    mutationFn: () => call<Executor>('PATCH', path(executor.executor_id), { body: { labels } }),
    onSuccess: () => {
      toast(t('executors.labelled', { name: executor.executor_id }));
      void client.invalidateQueries({ queryKey: ['executors'] });
      onClose();
    },
  });
  const error = labels === null ? t('invalid.lines') : save.isError ? explain(save.error, t) : '';
  return (
    <Modal open onClose={onClose} title={t('executors.label_title', { name: executor.executor_id })} actions={<>
      <button type="button" className="button" onClick={onClose}>{t('cancel')}</button>
      <button type="button" className="button button-primary" disabled={labels === null || save.isPending} onClick={() => save.mutate()}>{t('form.save')}</button>
    </>}>
      <label htmlFor={id} className="mb-1 block font-medium">{t('form.labels')}</label>
      <textarea id={id} className="input mono" rows={5} spellCheck={false} value={text} aria-invalid={error ? true : undefined}
        aria-describedby={id + '-more'} onChange={(event) => setText(event.target.value)} />
      <p id={id + '-more'} role={error ? 'alert' : undefined} className={error ? 'text-bad' : 'text-muted'}>{error || t('form.lines_hint')}</p>
    </Modal>
  );
}
