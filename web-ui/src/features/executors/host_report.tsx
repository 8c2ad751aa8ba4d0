// Card with the start-up report of an executor. Its details are texts of the server, in English.
import './texts.en';
import type { Executor } from '../../api/types';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { Card, TableFrame } from '../../ui/ui';

const CHECK_TONES = { works: 'text-ok', partly: 'text-warn', no: 'text-muted' } as const;

export function HostReport({ report }: { report: Executor['report'] }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  if (!report || report.length === 0) return null;
  return (
    <Card title={t('report.title')} flush>
      <TableFrame label={t('report.title')}>
        <table className="table cards">
          <thead>
            <tr>
              <th scope="col">{t('report.check')}</th>
              <th scope="col">{t('report.state')}</th>
              <th scope="col">{t('report.detail')}</th>
            </tr>
          </thead>
          <tbody>
            {report.map((one) => (
              <tr key={one.name}>
                <td className="mono">{one.name}</td>
                <td className={CHECK_TONES[one.state]}>{textOr('report.state.', one.state)}</td>
                <td lang="en">
                  {one.detail} {one.cure}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
    </Card>
  );
}
