// Button that ends the wait of a run for runs of other jobs, after a question for the reason.
import './texts.en';
import { Unlock } from 'lucide-react';
import { Suspense, lazy, useState } from 'react';
import type { Run } from '../../../api/types';
import { statePermits } from '../../../auth/state_permits';
import { useDenied } from '../../../auth/session';
import { useTranslation } from '../../../i18n/use_translation';

const ReleaseDialog = lazy(() => import('../../lists/runs/release_dialog'));

export default function Release({ run }: { run: Run }) {
  const { t } = useTranslation();
  const denied = useDenied()(run, 'release');
  const [asking, setAsking] = useState(false);
  const waits = run.waiting?.code === 'upstream_run' || run.allowed_actions?.includes('release');
  if (!waits || !statePermits(run, 'release')) return null;
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={Boolean(denied)}
        title={denied && t(denied)}
        onClick={() => setAsking(true)}
      >
        <Unlock aria-hidden size={15} />
        {t('release.run')}
      </button>
      {asking && (
        <Suspense>
          <ReleaseDialog id={run.run_id} onClose={() => setAsking(false)} />
        </Suspense>
      )}
    </>
  );
}
