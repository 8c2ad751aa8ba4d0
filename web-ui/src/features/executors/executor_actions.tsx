// Actions on an executor. The list of executors and the page of an executor show them.
import './texts.en';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ban, Play, Tags, Wrench } from 'lucide-react';
import { Suspense, lazy, useState } from 'react';
import { call } from '../../api/client';
import type { Executor } from '../../api/types';
import { useMay } from '../../auth/session';
import { useTranslation } from '../../i18n/use_translation';
import { toast, toastError } from '../../ui/toasts';
import { explain } from '../../ui/ui';
import { executorPath } from './executor_path';

const LabelDialog = lazy(() => import('./executor_dialogs').then((all) => ({ default: all.LabelDialog })));
const ReasonDialog = lazy(() => import('./executor_dialogs').then((all) => ({ default: all.ReasonDialog })));

export function ExecutorActions({ executor }: { executor: Executor }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const may = useMay('executors:write');
  const [asked, setAsked] = useState<'drain' | 'disable' | 'labels' | null>(null);
  const why = may ? undefined : t('denied.admin');
  const name = executor.executor_id;
  const close = () => setAsked(null);
  const done = () => {
    close();
    void client.invalidateQueries({ queryKey: ['executors'] });
  };
  const enable = useMutation({
    mutationFn: () => call<Executor>('POST', executorPath(name) + '/enable', { body: {} }),
    onSuccess: () => {
      toast(t('executors.done_enable', { name }));
      done();
    },
    onError: (error) => toastError(t('error.action'), explain(error, t)),
  });
  return (
    <>
      {executor.enabled && !executor.draining ? (
        <>
          <button
            type="button"
            className="button"
            disabled={!may}
            title={why ?? t('executors.drain_hint')}
            onClick={() => setAsked('drain')}
          >
            <Wrench aria-hidden size={15} />
            {t('executors.drain')}
          </button>
          <button
            type="button"
            className="button"
            disabled={!may}
            title={why}
            onClick={() => setAsked('disable')}
          >
            <Ban aria-hidden size={15} />
            {t('executors.disable')}
          </button>
        </>
      ) : (
        <button
          type="button"
          className="button"
          disabled={!may || enable.isPending}
          title={why}
          onClick={() => enable.mutate()}
        >
          <Play aria-hidden size={15} />
          {t('executors.enable')}
        </button>
      )}
      <button type="button" className="button" disabled={!may} title={why} onClick={() => setAsked('labels')}>
        <Tags aria-hidden size={15} />
        {t('executors.labels')}
      </button>
      <Suspense>
        {asked === 'labels' ? (
          <LabelDialog executor={executor} onClose={close} />
        ) : (
          asked !== null && <ReasonDialog executor={executor} verb={asked} onClose={close} onDone={done} />
        )}
      </Suspense>
    </>
  );
}
