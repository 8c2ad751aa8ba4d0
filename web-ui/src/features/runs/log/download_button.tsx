// Button that downloads the whole log of an attempt.
import './texts.en';
import { Download } from 'lucide-react';
import { send } from '../../../api/client';
import { useTranslation } from '../../../i18n/use_translation';
import { toastError } from '../../../ui/toasts';
import { explain } from '../../../ui/ui';

export function DownloadButton(props: { runId: string; attempt: number }) {
  const { t } = useTranslation();
  const download = async () => {
    try {
      const response = await send('GET', `runs/${encodeURIComponent(props.runId)}/logs`, {
        query: { attempt: props.attempt },
        headers: { Accept: 'text/plain' },
      });
      const url = URL.createObjectURL(await response.blob());
      const link = document.createElement('a');
      link.href = url;
      link.download = `${props.runId}-${props.attempt}.log`;
      link.click();
      URL.revokeObjectURL(url);
    } catch (error) {
      toastError(t('output.download_failed'), explain(error, t));
    }
  };
  return (
    <button type="button" className="button" onClick={() => void download()}>
      <Download aria-hidden size={15} />
      <span className="max-sm:sr-only">{t('output.download')}</span>
    </button>
  );
}
