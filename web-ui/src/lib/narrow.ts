// True in a window that is as narrow as that of a phone.
import { useSyncExternalStore } from 'react';

const PHONE = '(max-width: 639px)'; // below "sm" of the style sheet

function subscribe(onChange: () => void) {
  const query = matchMedia(PHONE);
  query.addEventListener('change', onChange);
  return () => query.removeEventListener('change', onChange);
}

export const useNarrow = () => useSyncExternalStore(subscribe, () => matchMedia(PHONE).matches);
