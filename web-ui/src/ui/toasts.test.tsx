import { render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import '../i18n';
import ToastList from './toast_list';
import { toast } from './toasts';

// The list is loaded after the page. Toasts from before that time are not lost.
it('the toast list shows messages sent before it was mounted', async () => {
  toast('3 jobs exported');
  render(<ToastList />);
  expect(await screen.findByText('3 jobs exported')).toBeTruthy();
});
