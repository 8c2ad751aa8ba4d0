import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import '../i18n';
import ToastList from './toast_list';
import { toast } from './toasts';

// The list is loaded after the page. Toasts from before that time are not lost.
it('shows what was said before there was a list', async () => {
  toast('3 jobs exported');
  render(<ToastList />);
  expect(await screen.findByText('3 jobs exported')).toBeTruthy();
});
