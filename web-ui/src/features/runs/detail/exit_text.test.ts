// The exit code of a process, with the signal that a shell reports by it.
import { describe, expect, it } from 'vitest';
import i18next from 'i18next';
import { exitText } from './run_text';

describe('exitText', () => {
  it.each([
    [3, '3'],
    [128, '128'],
    [137, '137 (128 + 9: SIGKILL; often out of memory)'],
    [139, '139 (128 + 11: SIGSEGV)'],
    [143, '143 (128 + 15: SIGTERM)'],
    [162, '162 (128 + 34: signal 34)'],
    [193, '193'],
  ])('explains %i', (code, text) => {
    expect(exitText(code, i18next.t)).toBe(text);
  });
});
