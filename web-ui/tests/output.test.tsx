import { fireEvent, render, screen } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { Output, linesOf } from '../src/features/runs/output';
import { StateBadge } from '../src/shared/state_badge';

describe('lines of output', () => {
  it('carry colours over the ends of lines', () => {
    expect(linesOf('\u001b[31mred\nstill\u001b[0m plain\n')).toEqual([
      [{ text: 'red', style: 'ansi-1' }],
      [{ text: 'still', style: 'ansi-1' }, { text: ' plain', style: '' }],
    ]);
  });
  it('leave out escapes that are no colours', () => {
    expect(linesOf('\u001b[2Ka\u001b]0;title\u0007b')).toEqual([[{ text: 'ab', style: '' }]]);
  });
  it('keep empty lines, and end with the last one', () => {
    expect(linesOf('a\n\nb\n').length).toBe(3);
  });
});

describe('output', () => {
  const show = (output: string, search = '') => {
    const onSearch = vi.fn();
    render(<Output runId="r" attempt={undefined} output={output} truncated={false} search={search} onSearch={onSearch} />);
    return onSearch;
  };
  it('shows HTML as text', () => {
    show('<img src=x onerror=alert(1)><b>bold</b>');
    expect(screen.getByRole('log').textContent).toContain('<img src=x onerror=alert(1)>');
    expect(document.querySelector('[role=log] img, [role=log] b')).toBeNull();
  });
  it('counts the lines that match', () => {
    show('one\ntwo\nONE more', 'one');
    expect(screen.getByText('1 of 2')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Next match' }));
    expect(screen.getByText('2 of 2')).toBeTruthy();
    fireEvent.click(screen.getByRole('button', { name: 'Next match' }));
    expect(screen.getByText('1 of 2')).toBeTruthy();
  });
  it('says when nothing matches', () => {
    show('one', 'nine');
    expect(screen.getByText('0 of 0')).toBeTruthy();
  });
});

it('a state that is not known is shown as it came', () => {
  render(<StateBadge state="HIBERNATING" />);
  expect(screen.getByText('HIBERNATING')).toBeTruthy();
});
