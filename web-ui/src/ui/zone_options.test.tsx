import { act, fireEvent, render, screen } from '@testing-library/react';
import { expect, it } from 'vitest';
import { ZoneOptions } from './zone_options';

it('zone options are rendered once their own field has the focus', () => {
  const { container } = render(
    <>
      <input aria-label="Zone" list="zones" />
      <input aria-label="Other" list="others" />
      <ZoneOptions id="zones" />
    </>,
  );
  const offered = () =>
    [...container.querySelectorAll('#zones option')].map((one) => one.getAttribute('value'));
  expect(offered()).toEqual([]);
  act(() => {
    fireEvent.focusIn(screen.getByLabelText('Other'));
  });
  expect(offered()).toEqual([]);
  act(() => {
    fireEvent.focusIn(screen.getByLabelText('Zone'));
  });
  expect(offered()[0]).toBe('UTC');
  expect(offered()).toContain('Europe/Berlin');
});
