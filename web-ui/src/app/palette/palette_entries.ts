// Search results of the palette, by kind. Pure.
import type { LucideIcon } from 'lucide-react';

export interface Entry {
  value: string;
  label: string;
  under: string;
  icon: LucideIcon;
  denied?: string; // why it may not be done
  words?: string; // that it is found by as well
  open: () => void;
}

// Every word that is typed is in what it is called, or in what it is found by.
export const matches = (entry: Entry, wanted: string): boolean => {
  const text = `${entry.label} ${entry.words ?? ''}`.toLowerCase();
  return wanted.split(/\s+/).every((word) => text.includes(word));
};

// The id of a run, also out of an address or with what stands around it.
export const runIdIn = (text: string): string | undefined =>
  /(?:^|[/\s"'#])([0-9A-HJKMNP-TV-Z]{26})(?=$|[/\s"'#?])/.exec(text.trim().toUpperCase())?.[1];
