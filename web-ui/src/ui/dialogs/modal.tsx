// A dialog. The code of dialogs is loaded when the first dialog is opened.
import { Suspense, lazy, useState } from 'react';
import type { ModalProps } from './modal_dialog';

const ModalDialog = lazy(() => import('./modal_dialog'));

export function Modal(props: ModalProps) {
  const [opened, setOpened] = useState(props.open);
  if (props.open && !opened) setOpened(true);
  return opened ? (
    <Suspense>
      <ModalDialog {...props} />
    </Suspense>
  ) : null;
}
