// Keys for the whole console: "g" and a letter, "/", "n", "?", and Ctrl+K or Cmd+K.
import { useNavigate } from '@tanstack/react-router';
import { useEffect } from 'react';
import { usePreferences } from '../lib/preferences';
import { PLACES } from './places';

const CHORD_MS = 1500;

function isTyping(target: EventTarget | null): boolean {
  return (
    target instanceof HTMLElement &&
    (target.isContentEditable || target.matches('textarea, select, input:not([type=checkbox])'))
  );
}

export function useShortcuts(actions: { palette: () => void; help: () => void }): void {
  const { shortcuts } = usePreferences();
  const navigate = useNavigate();
  useEffect(() => {
    let chordUntil = 0;
    const onKey = (event: KeyboardEvent) => {
      if ((event.ctrlKey || event.metaKey) && !event.altKey && event.key.toLowerCase() === 'k') {
        event.preventDefault();
        actions.palette();
        return;
      }
      const plain = !event.ctrlKey && !event.metaKey && !event.altKey;
      // Shortcuts are off while a dialog is open. A toast is a dialog too, but it has the attribute data-type
      // and does not switch shortcuts off.
      if (
        !shortcuts ||
        !plain ||
        isTyping(event.target) ||
        document.querySelector('[role=dialog]:not([data-type])')
      )
        return;
      if (event.timeStamp < chordUntil) {
        chordUntil = 0;
        const place = PLACES.find((one) => one.key === event.key);
        if (place) {
          event.preventDefault();
          void navigate({ to: place.to });
        }
        return;
      }
      if (event.key === 'g') chordUntil = event.timeStamp + CHORD_MS;
      else if (event.key === '?') actions.help();
      else if (event.key === 'n') void navigate({ to: '/jobs/new' });
      else if (event.key === '/') {
        const field = document.querySelector<HTMLInputElement>('input[type=search]');
        if (field) {
          event.preventDefault();
          field.focus();
        }
      }
    };
    window.addEventListener('keydown', onKey);
    return () => window.removeEventListener('keydown', onKey);
  }, [shortcuts, actions, navigate]);
}
