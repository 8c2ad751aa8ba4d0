// Question that comes before an action beside which a process may still run, or which kills one.
import { useTranslation } from '../../i18n/use_translation';
import { Modal } from './modal';

export default function ConfirmDialog(props: {
  title: string;
  explain: string;
  confirm: string;
  onClose: () => void;
  onConfirm: () => void;
}) {
  const { t } = useTranslation();
  return (
    <Modal
      open
      onClose={props.onClose}
      title={props.title}
      actions={
        <>
          <button type="button" className="button" onClick={props.onClose}>
            {t('cancel')}
          </button>
          <button
            type="button"
            className="button button-danger"
            onClick={() => {
              props.onClose();
              props.onConfirm();
            }}
          >
            {props.confirm}
          </button>
        </>
      }
    >
      <p className="text-muted">{props.explain}</p>
    </Modal>
  );
}
