// Card of a run's outputs. Their values are texts of the process, so they are shown as they are, never as links.
import './texts.en';
import { Copy } from 'lucide-react';
import { useTranslation } from '../../../i18n/use_translation';
import { copyText } from '../../../lib/clipboard';
import { toast } from '../../../ui/toasts';
import { Card, TableFrame } from '../../../ui/ui';

export default function Outputs({ outputs }: { outputs: Record<string, string> }) {
  const { t } = useTranslation();
  const copy = async (value: string) =>
    toast(t((await copyText(value)) ? 'run.output_copied' : 'run.output_copy_failed'));
  return (
    <Card title={t('run.outputs')} flush>
      <TableFrame label={t('run.outputs')}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t('run.output_name')}</th>
              <th scope="col">{t('run.output_value')}</th>
              <th scope="col">
                <span className="sr-only">{t('actions')}</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {Object.entries(outputs).map(([name, value]) => (
              <tr key={name}>
                <td className="mono align-top">{name}</td>
                <td className="w-full">
                  <pre className="mono max-h-60 overflow-auto break-all whitespace-pre-wrap">{value}</pre>
                </td>
                <td className="align-top">
                  <button
                    type="button"
                    className="button button-plain"
                    aria-label={t('run.output_copy', { name })}
                    title={t('run.output_copy', { name })}
                    onClick={() => void copy(value)}
                  >
                    <Copy aria-hidden size={15} />
                  </button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
    </Card>
  );
}
