// Area where toasts appear.
import { Toast } from '@base-ui/react/toast';
import { CircleCheck, TriangleAlert, X } from 'lucide-react';
import { useEffect } from 'react';
import { useTranslation } from '../i18n/use_translation';
import { listIsShown, manager } from './toasts';

export default function ToastList() {
  const { t } = useTranslation();
  // Shows the toasts that have waited for this list. Runs after the effect in which the provider
  // begins to listen.
  useEffect(listIsShown, []);
  return (
    <Toast.Provider toastManager={manager}>
      <Toast.Portal>
        <Toast.Viewport
          aria-label={t('toasts.label')}
          className="fixed right-4 bottom-4 z-50 flex w-[min(380px,calc(100vw-32px))] flex-col gap-2"
        >
          <List />
        </Toast.Viewport>
      </Toast.Portal>
    </Toast.Provider>
  );
}

function List() {
  const { toasts } = Toast.useToastManager();
  const { t } = useTranslation();
  return toasts.map((one) => (
    <Toast.Root key={one.id} toast={one} className="popup flex items-start gap-3 p-3" swipeDirection={[]}>
      {one.type === 'error' ? (
        <TriangleAlert aria-hidden size={18} className="mt-0.5 shrink-0 text-bad" />
      ) : (
        <CircleCheck aria-hidden size={18} className="mt-0.5 shrink-0 text-ok" />
      )}
      <Toast.Content className="min-w-0 flex-1">
        <Toast.Title className="text-sm font-medium" render={<p />} />
        <Toast.Description className="break-words text-muted" />
      </Toast.Content>
      <Toast.Close className="button button-plain button-icon -my-1" aria-label={t('close')}>
        <X aria-hidden size={15} />
      </Toast.Close>
    </Toast.Root>
  ));
}
