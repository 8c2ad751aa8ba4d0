// A dialog with a title, a close button and its actions; gives the focus back when it closes. It opens with the focus
// on its first field; without one on its main action, or where that destroys something on the first action, which
// cancels. Enter in a field of one line does the main action.
import { Dialog } from '@base-ui/react/dialog';
import { X } from 'lucide-react';
import { useRef, type KeyboardEvent, type ReactNode } from 'react';
import { useTranslation } from '../../i18n/use_translation';

export interface ModalProps {
  open: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  actions: ReactNode;
  finalFocus?: () => HTMLElement | null; // where what opened it may be gone
}

const FIELDS = ['input:not([type=hidden]):not([readonly])', 'select', 'textarea:not([readonly])']
  .map((one) => one + ':not(:disabled)')
  .join();
// Of these Enter means something else, or nothing.
const NOT_TYPED = new Set(['checkbox', 'radio', 'button', 'submit', 'file']);
const MAIN = '.button-primary, .button-danger';

export default function ModalDialog(props: ModalProps) {
  const { t } = useTranslation();
  const content = useRef<HTMLDivElement>(null);
  const actions = useRef<HTMLDivElement>(null);
  const mainAction = () => actions.current?.querySelector<HTMLButtonElement>(MAIN) ?? null;
  const first = (by: string) => {
    if (by === 'touch') return true; // a field would bring up the keyboard of the screen
    const field = content.current?.querySelector<HTMLElement>(FIELDS);
    if (field instanceof HTMLInputElement && field.type === 'radio') {
      return content.current?.querySelector<HTMLElement>('input[type=radio]:checked') ?? field;
    }
    if (field) return field;
    const main = mainAction();
    const safe = main?.classList.contains('button-danger') || main?.disabled;
    return (
      (safe ? null : main) ?? actions.current?.querySelector<HTMLElement>('button:not(:disabled)') ?? true
    );
  };
  // Inside a form the browser submits by itself.
  const submit = (event: KeyboardEvent) => {
    const field = event.target;
    if (event.key !== 'Enter' || event.defaultPrevented || event.nativeEvent.isComposing) return;
    if (!(field instanceof HTMLInputElement) || NOT_TYPED.has(field.type) || field.form) return;
    event.preventDefault();
    mainAction()?.click();
  };
  return (
    <Dialog.Root open={props.open} onOpenChange={(open) => !open && props.onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop z-40" />
        <Dialog.Popup
          initialFocus={first}
          finalFocus={props.finalFocus}
          className="dialog popup z-50 p-5"
          onKeyDown={submit}
        >
          <div className="mb-3 flex items-start justify-between gap-4">
            <Dialog.Title className="text-base">{props.title}</Dialog.Title>
            <Dialog.Close className="button button-plain button-icon -mt-1 -mr-1" aria-label={t('close')}>
              <X aria-hidden size={16} />
            </Dialog.Close>
          </div>
          <div ref={content}>{props.children}</div>
          <div ref={actions} className="mt-5 flex flex-wrap justify-end gap-2">
            {props.actions}
          </div>
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}
