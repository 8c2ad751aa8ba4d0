import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import Outputs from './outputs_card';

describe('the outputs of a run', () => {
  it('the outputs are a table of exact texts', () => {
    render(<Outputs outputs={{ report: 'two\nlines', url: '<a href="https://example.com">x</a>' }} />);
    expect(screen.getAllByRole('row')).toHaveLength(3);
    expect(document.querySelectorAll('pre')[0]!.textContent).toBe('two\nlines');
    expect(screen.queryByRole('link')).toBeNull();
  });

  it('the outputs are copied one by one', async () => {
    const write = vi.fn(() => Promise.resolve());
    vi.stubGlobal('navigator', { ...navigator, clipboard: { writeText: write } });
    render(<Outputs outputs={{ a: '1', b: '2' }} />);
    fireEvent.click(screen.getByRole('button', { name: 'Copy b' }));
    await waitFor(() => expect(write).toHaveBeenCalledWith('2'));
    vi.unstubAllGlobals();
  });
});
