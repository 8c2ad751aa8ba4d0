// Search results of the palette, by kind. Pure.
import type { LucideIcon } from 'lucide-react';

export interface Entry {
  value: string;
  label: string;
  under: string;
  icon: LucideIcon;
  denied?: string; // why the user may not do this
  words?: string; // further words that find this entry
  open: () => void;
}

// True if each typed word is in the entry's label or further words.
export const matches = (entry: Entry, wanted: string): boolean => {
  const text = `${entry.label} ${entry.words ?? ''}`.toLowerCase();
  return wanted.split(/\s+/).every((word) => text.includes(word));
};

// Returns the id of a run, also from a URL or from a text around it.
export const runIdIn = (text: string): string | undefined =>
  /(?:^|[/\s"'#])([0-9A-HJKMNP-TV-Z]{26})(?=$|[/\s"'#?])/.exec(text.trim().toUpperCase())?.[1];
