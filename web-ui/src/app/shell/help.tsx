// Dialog that lists all shortcuts and switches single-key shortcuts on or off.
import { useTranslation } from '../../i18n/use_translation';
import { Modal } from '../../ui/dialogs/modal';
import { setPreferences, usePreferences } from '../../lib/preferences';
import { PLACES } from '../places';

export default function Help(props: { onClose: () => void }) {
  const { t } = useTranslation();
  const { shortcuts } = usePreferences();
  const rows = [
    ['Ctrl K', t('palette.title')],
    ...PLACES.map((place) => ['g ' + place.key, t(place.label)]),
    ['n', t('jobs.new')],
    ['/', t('keys.search')],
    ['?', t('keys.title')],
  ];
  return (
    <Modal
      open
      onClose={props.onClose}
      title={t('keys.title')}
      actions={
        <button type="button" className="button" onClick={props.onClose}>
          {t('close')}
        </button>
      }
    >
      <dl className="grid grid-cols-[6rem_1fr] gap-y-2">
        {rows.map(([keys, what]) => (
          <div key={keys} className="contents">
            <dt>
              <kbd className="mono rounded border bg-code px-1.5 py-0.5">{keys}</kbd>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <label className="mt-4 flex items-center gap-2">
        <input
          type="checkbox"
          className="size-4 accent-accent"
          checked={shortcuts}
          onChange={(event) => setPreferences({ shortcuts: event.target.checked })}
        />
        {t('keys.single')}
      </label>
    </Modal>
  );
}
