// The banner of an approval that waits for a decision, on the page of the node's own run.
import '../../workflows/texts.en';
import { Suspense, lazy, useState, type ReactNode } from 'react';
import type { Run } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { ApprovalMessage } from '../nodes/approval_message';

const DecideDialog = lazy(() => import('../nodes/decide_dialog'));

// `waits`: what the run waits for, in words.
export default function Undecided({ run, waits }: { run: Run; waits: ReactNode }) {
  const { t } = useTranslation();
  const message = typeof run.parameters?.message === 'string' ? run.parameters.message : null;
  const [deciding, setDeciding] = useState(false);
  return (
    <div className="mb-4 flex flex-wrap items-center gap-3 rounded-md bg-idle-soft px-4 py-2.5 text-idle">
      <div className="min-w-0 grow">
        <p role="status">{waits}</p>
        <ApprovalMessage text={message} className="text-ink" />
      </div>
      {run.allowed_actions?.includes('decide') && (
        <button type="button" className="button button-primary" onClick={() => setDeciding(true)}>
          {t('nodes.decide')}
        </button>
      )}
      {deciding && (
        <Suspense>
          <DecideDialog
            workflow={run.workflow_run_id ?? ''}
            node={{ id: run.node ?? '', message }}
            onClose={() => setDeciding(false)}
          />
        </Suspense>
      )}
    </div>
  );
}
