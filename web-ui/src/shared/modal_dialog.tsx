// A dialog with a title, a close button and its actions; gives the focus back when it closes.
import { Dialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { useTranslation } from '../i18n/use_translation';
import type { ModalProps } from './modal';

export default function ModalDialog(props: ModalProps) {
  const { t } = useTranslation();
  return (
    <Dialog.Root open={props.open} onOpenChange={(open) => !open && props.onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop z-40" />
        <Dialog.Popup finalFocus={props.finalFocus} className="dialog popup z-50 p-5">
          <div className="mb-3 flex items-start justify-between gap-4">
            <Dialog.Title className="text-base">{props.title}</Dialog.Title>
            <Dialog.Close className="button button-plain button-icon -mt-1 -mr-1" aria-label={t('close')}>
              <X aria-hidden size={16} />
            </Dialog.Close>
          </div>
          {props.children}
          <div className="mt-5 flex flex-wrap justify-end gap-2">{props.actions}</div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
