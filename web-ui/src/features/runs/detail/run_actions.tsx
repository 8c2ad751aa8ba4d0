// Buttons that cancel, retry or repeat a run, and the questions that some of them ask first.
import './texts.en';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Ban, RotateCcw, SlidersHorizontal } from 'lucide-react';
import { Suspense, lazy, useEffect, useRef, useState } from 'react';
import { ApiError, call } from '../../../api/client';
import { newKey } from '../../../api/keys';
import { FINAL_STATES, type Run } from '../../../api/types';
import { useDenied } from '../../../auth/session';
import { useTranslation } from '../../../i18n/use_translation';
import { toast, toastError } from '../../../ui/toasts';
import { explain } from '../../../ui/ui';
import { statePermits } from '../../../auth/state_permits';
import { runPath } from './run_path';
import { isWorkflow } from './run_text';

const ConfirmDialog = lazy(() => import('../../../ui/dialogs/confirm_dialog'));
const Release = lazy(() => import('../waiting/release'));
const RetryNodesDialog = lazy(() => import('../nodes/retry_nodes_dialog'));
const RunWithDialog = lazy(() => import('../../jobs/actions/run_with_dialog'));
const RETRIABLE = new Set(['FAILED', 'TIMED_OUT', 'LOST', 'CANCELLED', 'HELD']);
// True if the run is PENDING and its next attempt waits until it is due, or until the job is resumed.
const waitsForRetry = (run: Run) =>
  run.state === 'PENDING' && run.attempt > 1 && ['not_due', 'paused'].includes(run.waiting?.code ?? '');
// True if a function does not stop though it was asked to. Nothing can kill it, but its run can be given up.
const isHanging = (run: Run) => run.allowed_actions?.includes('give_up') === true;
// True if the run has nodes, of which a retry makes a choice.
const hasNodes = (run: Run) => isWorkflow(run) && run.claimed_at !== null;

type Question = 'cancel' | 'retry' | 'kill' | 'give_up';
// The texts of each question, and the terms with which the run is then cancelled.
const ASKED = {
  cancel: ['run.overlap_title', 'run.overlap', 'run.overlap_confirm', { confirm_overlap: true }],
  retry: ['run.overlap_title', 'run.overlap', 'run.overlap_confirm', {}],
  kill: ['run.kill_title', 'run.kill_explain', 'run.kill', { mode: 'kill' }],
  give_up: [
    'run.give_up_title',
    'run.give_up_explain',
    'run.give_up_confirm',
    { give_up: true, confirm_overlap: true },
  ],
} as const;

export function Actions({ run }: { run: Run }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const denied = useDenied();
  const [noCancel, noRetry] = ['cancel', 'retry'].map((action) => denied(run, action));
  const [choosing, setChoosing] = useState(false);
  const [confirm, setConfirm] = useState<Question | null>(null);
  // If the run is being cancelled already, the button offers to kill it.
  const kills = run.state === 'RUNNING' && run.cancel_requested;
  const key = useRef(newKey());
  // The key stays the same until the run's state changes. So a second click, before the page shows the new
  // state, repeats the same request.
  useEffect(() => {
    key.current = newKey();
  }, [run.run_id, run.attempt, run.state, run.due_at]);
  const done = () => void client.invalidateQueries({ queryKey: ['runs'] });
  const cancel = useMutation({
    mutationFn: (body: object) =>
      call<{ cancelled: number }>('POST', runPath(run.run_id) + '/cancel', { body }),
    onSuccess: ({ data }) => {
      if (data.cancelled === 0) toast(t('run.ended_before'));
      done();
    },
    onError: (error) => toastError(t('error.action'), explain(error, t)),
  });
  const retry = useMutation({
    mutationFn: (anyway: boolean) =>
      call<Run>('POST', runPath(run.run_id) + '/retry', {
        body: anyway ? { confirm_overlap: true } : {},
        idempotencyKey: key.current,
      }),
    onSuccess: () => {
      toast(t('run.retried'));
      done();
    },
    onError: (error, anyway) => {
      if (error instanceof ApiError && error.code === 'request_in_flight') return;
      // If no response arrives, the retry may have been done. The key is then kept, so that a repeated
      // request has no second effect.
      if (error instanceof ApiError && error.status >= 400 && error.status < 500) key.current = newKey();
      if (!anyway && error instanceof ApiError && error.asksOverlap) setConfirm('retry');
      else toastError(t('error.action'), explain(error, t));
    },
  });
  const [title, explanation, yes, terms] = ASKED[confirm ?? 'cancel'];
  return (
    <>
      {isHanging(run) && (
        <button type="button" className="button button-danger" onClick={() => setConfirm('give_up')}>
          <Ban aria-hidden size={15} />
          {t('run.give_up')}
        </button>
      )}
      {!FINAL_STATES.has(run.state) && !isHanging(run) && statePermits(run, 'cancel') && (
        <button
          type="button"
          className="button button-danger"
          title={noCancel && t(noCancel)}
          // The button is not disabled during the request, because a disabled button loses the focus. The
          // next question follows at this button.
          disabled={Boolean(noCancel) || (run.cancel_requested && !(kills && run.cancel_mode === 'graceful'))}
          onClick={() => {
            if (cancel.isPending) return;
            if (kills || run.state === 'HELD') setConfirm(kills ? 'kill' : 'cancel');
            else cancel.mutate({});
          }}
        >
          <Ban aria-hidden size={15} />
          {t(kills ? 'run.kill' : 'run.cancel')}
        </button>
      )}
      {run.state === 'PENDING' && (
        <Suspense>
          <Release run={run} />
        </Suspense>
      )}
      {hasNodes(run) && statePermits(run, 'retry') && (
        <button
          type="button"
          className="button"
          disabled={Boolean(noRetry)}
          title={noRetry && t(noRetry)}
          onClick={() => setChoosing(true)}
        >
          <RotateCcw aria-hidden size={15} />
          {t('run.retry_nodes')}
        </button>
      )}
      {choosing && (
        <Suspense>
          <RetryNodesDialog run={run} onClose={() => setChoosing(false)} />
        </Suspense>
      )}
      {!hasNodes(run) &&
        (!run.shards || run.workflow_run_id) &&
        (RETRIABLE.has(run.state) || waitsForRetry(run)) &&
        statePermits(run, 'retry') && (
          <button
            type="button"
            className="button"
            disabled={Boolean(noRetry) || retry.isPending}
            title={noRetry && t(noRetry)}
            onClick={() => retry.mutate(false)}
          >
            <RotateCcw aria-hidden size={15} />
            {t(waitsForRetry(run) ? 'run.retry_now' : 'run.retry')}
          </button>
        )}
      {confirm && (
        <Suspense>
          <ConfirmDialog
            title={t(title)}
            explain={t(explanation)}
            confirm={t(yes)}
            onClose={() => setConfirm(null)}
            onConfirm={() => {
              if (confirm === 'retry') retry.mutate(true);
              else cancel.mutate(terms);
            }}
          />
        </Suspense>
      )}
    </>
  );
}

// Button that runs the job again, whatever the state of this run. Its dialog begins with the values of this run.
export function Again({ run }: { run: Run }) {
  const { t } = useTranslation();
  const denied = useDenied()(run, 'execute');
  const [open, setOpen] = useState(false);
  if (!statePermits(run, 'execute')) return null; // its job is deleted
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={Boolean(denied)}
        title={denied && t(denied)}
        onClick={() => setOpen(true)}
      >
        <SlidersHorizontal aria-hidden size={15} />
        {t('run.again_with')}
      </button>
      {open && (
        <Suspense>
          <RunWithDialog
            jobId={run.job_id}
            name={run.job_name || run.job_id}
            run={run}
            onClose={() => setOpen(false)}
          />
        </Suspense>
      )}
    </>
  );
}
