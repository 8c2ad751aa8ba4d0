// Dialog that sends a test message through every channel. It shows the response of each channel.
import '../jobs/detail/texts.en';
import './texts.en';
import { useMutation } from '@tanstack/react-query';
import { call } from '../../api/client';
import type { TestOutcome } from '../../api/types';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { Modal } from '../../ui/dialogs/modal';
import { StateBadge } from '../../ui/state_badge';
import { explain } from '../../ui/ui';

export function TestNoticeDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation();
  const test = useMutation({ mutationFn: () => call<{ channels: TestOutcome[] }>('POST', 'notify/test') });
  return (
    <Modal
      open
      onClose={onClose}
      title={t('deliveries.test')}
      actions={
        <>
          <button type="button" className="button" onClick={onClose}>
            {t('close')}
          </button>
          <button
            type="button"
            className="button button-primary"
            disabled={test.isPending}
            onClick={() => test.mutate()}
          >
            {t(test.isIdle || test.isPending ? 'deliveries.test_go' : 'deliveries.test_again')}
          </button>
        </>
      }
    >
      <p className="text-muted">{t('deliveries.test_explain')}</p>
      <div className="mt-3" aria-live="polite">
        {test.isPending ? (
          <p role="status">{t('deliveries.testing')}</p>
        ) : test.isError ? (
          <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
            {explain(test.error, t)}
          </p>
        ) : (
          test.data && <Outcomes outcomes={test.data.data.channels} />
        )}
      </div>
    </Modal>
  );
}

function Outcomes({ outcomes }: { outcomes: TestOutcome[] }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  return (
    <ul aria-label={t('deliveries.test_result')} className="grid gap-2">
      {outcomes.map((one) => (
        <li key={one.channel} data-channel={one.channel} className="grid gap-1 rounded-md border px-3 py-2">
          <span className="flex flex-wrap items-center gap-2">
            <span className="font-medium">{textOr('channel.', one.channel)}</span>
            <StateBadge state={one.delivered ? 'DELIVERED' : 'FAILED'} />
            {one.status !== null && <span className="mono text-muted">{one.status}</span>}
          </span>
          {one.error && (
            <span lang="en" className="wrap-anywhere">
              {one.error}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}
