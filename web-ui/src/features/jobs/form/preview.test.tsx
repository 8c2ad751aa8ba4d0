import { render, screen } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { Skipped } from './preview';

describe('fires skipped by daylight saving', () => {
  it('the preview shows skipped fires with their shifted time and reason', () => {
    const fire = {
      schedule: 0,
      fire_time: '2026-03-29T01:30:00.000000Z',
      local_time: '2026-03-29T03:30:00.000000+02:00',
      utc_offset: '+02:00',
      time_zone: 'Europe/Paris',
    };
    render(
      <Skipped
        fires={[
          { ...fire, dst: 'skipped_by_gap' },
          { ...fire, schedule: 1, dst: 'not_repeated' },
          { ...fire, schedule: 2, dst: 'something_new' as 'not_repeated' },
        ]}
      />,
    );
    screen.getByRole('region', { name: 'Skipped because of daylight saving' });
    expect(screen.getByTestId('skipped').textContent).toContain(
      '2026-03-29 03:30:00 +02:00 · this local time does not exist on that day',
    );
    expect(screen.getByTestId('skipped').textContent).toContain(
      'this local time occurs twice but fires once',
    );
    expect(screen.getByTestId('skipped').textContent).toContain('something_new');
  });
});
