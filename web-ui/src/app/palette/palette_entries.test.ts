import { Zap } from 'lucide-react';
import { describe, expect, it } from 'vitest';
import { matches, runIdIn, type Entry } from './palette_entries';

const id = '069FNJDGV00000000000020000';
const entry = (label: string, words?: string): Entry => ({
  value: label,
  label,
  under: '',
  icon: Zap,
  words,
  open: () => {},
});

describe('the palette', () => {
  it('the palette finds a run ID in copied text', () => {
    for (const text of [
      id,
      ` ${id}\n`,
      id.toLowerCase(),
      `https://c.example/ops/runs/${id}?attempt=2#L7`,
      `run "${id}"`,
    ])
      expect(runIdIn(text), text).toBe(id);
    for (const text of ['', 'backup', id.slice(1), id + '0', id.replace('9', 'U'), 'I'.repeat(26)])
      expect(runIdIn(text), text).toBeUndefined();
  });
  it('the palette matches every word against the label and the keywords', () => {
    expect(matches(entry('Theme: Dark'), 'dark theme')).toBe(true);
    expect(matches(entry('Theme: Dark'), 'light')).toBe(false);
    expect(matches(entry('executor-1', 'db3.example'), 'db3')).toBe(true);
    expect(matches(entry('anything'), '')).toBe(true);
  });
});
