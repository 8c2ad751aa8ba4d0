import { render, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import Saved from './saved_card';

const at = '2026-03-01T00:00:00Z';

describe('the progress of a run', () => {
  it('the progress card shows a bar, a percentage and a text', () => {
    render(<Saved progress={{ percent: 42, text: 'row <b>4</b>', at }} checkpoint={null} />);
    expect(screen.getByRole('progressbar', { name: 'Progress' })).toHaveProperty('value', 42);
    expect(screen.getByText('42 %')).toBeDefined();
    expect(screen.getByText('row <b>4</b>')).toBeDefined();
    expect(screen.queryByText('Checkpoint')).toBeNull();
  });

  it('the progress card has no bar without a percentage, and shows the checkpoint', () => {
    render(
      <Saved
        progress={{ percent: null, text: 'reading', at }}
        checkpoint={{ size: 2048, attempt: 3, saved_at: at }}
      />,
    );
    expect(screen.queryByRole('progressbar')).toBeNull();
    expect(screen.getByText('Checkpoint')).toBeDefined();
    expect(screen.getByText('3')).toBeDefined();
  });
});
