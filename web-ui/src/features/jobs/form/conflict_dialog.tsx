// Dialog shown if somebody else has saved the job first: the differences, and the choice of a
// version.
import './texts.en';
import type { Job } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { Modal } from '../../../ui/dialogs/modal';
import { TableFrame } from '../../../ui/ui';
import type { Definition } from './definition';
import { definitionOf, differences } from './form_values';

const show = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value ?? null));

export function ConflictDialog(props: {
  base: Definition;
  conflict: { mine: Definition; theirs: Job } | null;
  onClose: () => void;
  onOverwrite: () => void;
  onReload: () => void;
}) {
  const { t } = useTranslation();
  const rows = props.conflict
    ? differences(props.base, props.conflict.mine, definitionOf(props.conflict.theirs))
    : [];
  return (
    <Modal
      open={props.conflict !== null}
      onClose={props.onClose}
      title={t('conflict.title')}
      actions={
        <>
          <button type="button" className="button" onClick={props.onClose}>
            {t('cancel')}
          </button>
          <button type="button" className="button" onClick={props.onReload}>
            {t('conflict.theirs')}
          </button>
          <button type="button" className="button button-primary" onClick={props.onOverwrite}>
            {t('conflict.mine')}
          </button>
        </>
      }
    >
      <p className="mb-3 text-muted">
        {t('conflict.explain', { version: props.conflict?.theirs.version ?? 0 })}
      </p>
      <TableFrame label={t('conflict.title')}>
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t('conflict.field')}</th>
              <th scope="col">{t('conflict.before')}</th>
              <th scope="col">{t('conflict.yours')}</th>
              <th scope="col">{t('conflict.now')}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr key={row.field}>
                <th scope="row" className="mono">
                  {row.field}
                </th>
                <td className="mono break-all">{show(row.base)}</td>
                <td className="mono break-all">{show(row.mine)}</td>
                <td className="mono break-all">{show(row.theirs)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </TableFrame>
    </Modal>
  );
}
