// The visible columns of a list, as chosen in this browser. The column with the name is always visible.
import './texts.en';
import { useState } from 'react';
import type { Kind } from '../bulk/bulk';
import { keep, kept } from './list_settings';

export interface Choosable {
  id: string;
  label: string;
  usual: boolean;
}
// Stores a choice only if it differs from the default of the column. So a later change of the default
// takes effect.
export type Chosen = Readonly<Record<string, boolean>>;

export interface Columns {
  all: readonly Choosable[];
  isShown: (id: string) => boolean;
  choose: (chosen: Chosen) => void;
  chosen: Chosen;
}

export const isShown = (all: readonly Choosable[], chosen: Chosen, id: string): boolean =>
  chosen[id] ?? all.find((one) => one.id === id)?.usual ?? true;

export function choice(all: readonly Choosable[], chosen: Chosen, id: string, on: boolean): Chosen {
  const { [id]: _, ...others } = chosen;
  return all.find((one) => one.id === id)?.usual === on ? others : { ...others, [id]: on };
}

export function chosenFrom(stored: unknown): Chosen {
  if (typeof stored !== 'object' || stored === null) return {};
  return Object.fromEntries(
    Object.entries(stored).filter((one): one is [string, boolean] => typeof one[1] === 'boolean'),
  );
}

export function useColumns(kind: Kind, all: readonly Choosable[]): Columns {
  const [chosen, setChosen] = useState(() => chosenFrom(kept('columns.' + kind)));
  return {
    all,
    chosen,
    isShown: (id) => isShown(all, chosen, id),
    choose: (next) => {
      setChosen(next);
      keep('columns.' + kind, next);
    },
  };
}
