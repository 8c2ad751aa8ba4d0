// A dialog, fetched when the first one is opened.
import { Suspense, lazy, useState, type ReactNode } from 'react';

export interface ModalProps {
  open: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  actions: ReactNode;
  finalFocus?: () => HTMLElement | null; // where what opened it may be gone
}

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
