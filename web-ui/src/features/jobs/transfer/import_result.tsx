// The result or the preview of an import, with the changes of each job.
import './texts.en';
import { Link } from '@tanstack/react-router';
import { useTextOr } from '../../../i18n/text_or';
import { problemText } from '../../../i18n/problems';
import { useTranslation } from '../../../i18n/use_translation';
import { Card, Problem, TableFrame } from '../../../ui/ui';
import { useOwnerText } from '../../users/owners';
import type { Applied, AppliedItem } from './import_values';

const RESULTS = ['created', 'updated', 'unchanged', 'pruned', 'error'] as const;
const TONES: Record<string, string> = {
  created: 'text-ok',
  updated: 'text-busy',
  pruned: 'text-bad',
  error: 'text-bad',
};
const show = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value ?? null));
const OWNER = '/user_id';

export function ImportResult({ applied }: { applied: Applied }) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  const results = [...new Set([...RESULTS, ...Object.keys(applied.counts)])];
  const said = results
    .filter((one) => (applied.counts[one] ?? 0) > 0)
    .map((one) => `${applied.counts[one]} ${textOr('import.result_', one)}`);
  return (
    <Card title={t(applied.dry_run ? 'import.would' : 'import.did')} flush>
      <p role="status" className="p-4 font-medium">
        {said.join(', ')}
      </p>
      {applied.prune_complete === false && <p className="px-4 pb-4 text-warn">{t('import.prune_rest')}</p>}
      <TableFrame label={t(applied.dry_run ? 'import.would' : 'import.did')}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t('import.outcome')}</th>
              <th scope="col">{t('jobs.name')}</th>
              <th scope="col">{t('import.changes')}</th>
            </tr>
          </thead>
          <tbody>
            {applied.items.map((item, i) => (
              <tr key={i} data-item={item.job_id ?? i} data-result={item.result}>
                <td
                  className={
                    'align-top font-medium whitespace-nowrap ' + (TONES[item.result] ?? 'text-muted')
                  }
                >
                  {textOr('import.result_', item.result)}
                </td>
                <td className="align-top">
                  <Name item={item} dry={applied.dry_run} />
                </td>
                <td className="align-top">
                  {item.error ? <Refused item={item} /> : <Changes item={item} />}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
    </Card>
  );
}

function Name({ item, dry }: { item: AppliedItem; dry: boolean }) {
  const there =
    item.job_id !== null &&
    (dry ? item.version !== null : item.result !== 'pruned' && item.result !== 'error');
  return (
    <>
      {there ? (
        <Link to="/jobs/$id" params={{ id: item.job_id! }} className="link">
          {item.name ?? item.job_id}
        </Link>
      ) : (
        (item.name ?? item.job_id ?? '–')
      )}
      {item.job_id !== null && <span className="mono block text-muted">{item.job_id}</span>}
    </>
  );
}

function Refused({ item }: { item: AppliedItem }) {
  const error = item.error!;
  return (
    <div className="text-bad">
      <Problem code={error.code} detail={error.errors?.length > 0 ? '' : error.detail} />
      <ul>
        {(error.errors ?? []).map((one) => (
          <li key={one.pointer + one.code}>
            <span className="mono">{one.pointer}</span> {problemText('field', one.code, one.detail)}
          </li>
        ))}
      </ul>
    </div>
  );
}

function Changes({ item }: { item: AppliedItem }) {
  const { t } = useTranslation();
  const ownerOf = useOwnerText();
  const shown = (path: string, value: unknown) =>
    path === OWNER && typeof value === 'string' ? ownerOf(value) : show(value);
  if (item.changes === null) return <span className="text-muted">{t('import.changes_many')}</span>;
  return (
    <ul className="grid gap-1">
      {item.changes.map((one) => (
        <li key={one.path} className="break-all">
          <span className="mono text-muted">{one.path}</span>{' '}
          {one.from !== null && (
            <>
              <del className="mono bg-bad-soft text-bad">{shown(one.path, one.from)}</del>{' '}
            </>
          )}
          {one.to !== null && (
            <ins className="mono bg-ok-soft text-ok no-underline">{shown(one.path, one.to)}</ins>
          )}
        </li>
      ))}
    </ul>
  );
}
