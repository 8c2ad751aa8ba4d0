import { useEffect, useState } from 'react';
import { allZones } from '../lib/zones';

// Options for fields of time zones (the attribute `list`). There are hundreds of time zones. So the options
// are rendered when such a field first gets the focus.
export function ZoneOptions({ id }: { id: string }) {
  const [wanted, setWanted] = useState(false);
  useEffect(() => {
    const look = ({ target }: FocusEvent) => {
      if (target instanceof HTMLInputElement && target.getAttribute('list') === id) setWanted(true);
    };
    document.addEventListener('focusin', look);
    return () => document.removeEventListener('focusin', look);
  }, [id]);
  return (
    <datalist id={id}>
      {wanted &&
        allZones().map((zone) => (
          <option key={zone} value={zone}>
            {zone}
          </option>
        ))}
    </datalist>
  );
}
