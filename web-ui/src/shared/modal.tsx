// A dialog, fetched when the first one is opened.
import { Suspense, lazy, useRef, type ReactNode } from 'react';

export interface ModalProps {
  open: boolean;
  onClose: () => void;
  title: string;
  children: ReactNode;
  actions: ReactNode;
}

const ModalDialog = lazy(() => import('./modal_dialog'));

export function Modal(props: ModalProps) {
  const opened = useRef(false);
  opened.current ||= props.open;
  return opened.current ? <Suspense><ModalDialog {...props} /></Suspense> : null;
}
