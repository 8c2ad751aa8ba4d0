// What nobody sees at first.
import { startTransition, useEffect, useState, type ReactNode } from 'react';
import { allZones } from './zones';

// Rendered when the rest of the page was painted: what is in a box that is closed, and takes no room.
export function Later(props: { children: ReactNode }): ReactNode {
  const [due, setDue] = useState(false);
  useEffect(() => startTransition(() => setDue(true)), []);
  return due && props.children;
}

// The time zones, hundreds of them, for the fields with this `list`; there when one of these has the focus.
export function ZoneOptions({ id }: { id: string }) {
  const [wanted, setWanted] = useState(false);
  useEffect(() => {
    const look = ({ target }: FocusEvent) => {
      if (target instanceof HTMLInputElement && target.getAttribute('list') === id) setWanted(true);
    };
    document.addEventListener('focusin', look);
    return () => document.removeEventListener('focusin', look);
  }, [id]);
  return <datalist id={id}>{wanted && allZones().map((zone) => <option key={zone} value={zone}>{zone}</option>)}</datalist>;
}
