// A dialog with a title, a close button and actions. At first the focus is on:
// - the first field;
// - in a dialog without fields, the main action;
// - if the main action destroys something, the first action instead, which cancels.
// When the dialog is closed, the focus returns to the element that opened it. Enter in a single-line field
// triggers the main action.
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
  finalFocus?: () => HTMLElement | null; // gets the focus at the end if the opener may be removed
}

const FIELDS = ['input:not([type=hidden]):not([readonly])', 'select', 'textarea:not([readonly])']
  .map((one) => one + ':not(:disabled)')
  .join();
// Input types for which Enter has another meaning or no meaning.
const NOT_TYPED = new Set(['checkbox', 'radio', 'button', 'submit', 'file']);
const MAIN = '.button-primary, .button-danger';

export default function ModalDialog(props: ModalProps) {
  const { t } = useTranslation();
  const content = useRef<HTMLDivElement>(null);
  const actions = useRef<HTMLDivElement>(null);
  const mainAction = () => actions.current?.querySelector<HTMLButtonElement>(MAIN) ?? null;
  const first = (by: string) => {
    if (by === 'touch') return true; // a focus on a field would open the on-screen keyboard
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
  // Submits the dialog on Enter. If the field is inside a form, the browser does this.
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
