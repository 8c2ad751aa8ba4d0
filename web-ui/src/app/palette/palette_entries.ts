// Search results of the palette, by kind. Pure.
import type { LucideIcon } from 'lucide-react';

export interface Entry {
  value: string;
  label: string;
  under: string;
  icon: LucideIcon;
  denied?: string; // why the user may not choose this entry
  words?: string; // additional words that find this entry
  open: () => void;
}

// True if each typed word is in the entry's label or in its additional words.
export const matches = (entry: Entry, wanted: string): boolean => {
  const text = `${entry.label} ${entry.words ?? ''}`.toLowerCase();
  return wanted.split(/\s+/).every((word) => text.includes(word));
};

// Returns the id of a run. The text may be the id, a URL with the id, or a longer text that contains it.
export const runIdIn = (text: string): string | undefined =>
  /(?:^|[/\s"'#])([0-9A-HJKMNP-TV-Z]{26})(?=$|[/\s"'#?])/.exec(text.trim().toUpperCase())?.[1];
