import '../../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { fireEvent, render, screen, waitFor, within } from '@testing-library/react';
import { beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { queryClient } from '../../../api/queries';
import type { Job } from '../../../api/types';
import { definitionFrom, definitionOf, fieldOf, valuesOf } from './form_values';
import { DEFAULTS, formSchema } from './form_schema';
import { JobEditor } from './job_editor';
import { notifyFrom, notifyValuesOf, notificationSettingsOf } from './notifications_values';
import { NotificationFact } from '../detail/notifications_fact';
import { HttpResponse, at, http, problem, server } from '../../../../test_support/server';

const settings = {
  'notify.on': 'failed,late,shed', // shed: about the cluster, not about a job
  'notify.late_after_s': '300',
  'notify.webhook_url': 'https://hooks.example.org',
  'notify.mail_server': 'mail.example.org:587',
  'notify.mail_to': 'ops@example.org, night@example.org',
};
const job = {
  job_id: 'backup',
  name: 'Backup',
  type: 'shell',
  command: 'true',
  cron_expression: '0 3 * * *',
  schedules: [],
  time_zone: 'UTC',
  enabled: true,
  version: 3,
  notify: {},
} as unknown as Job;
const withSettings = (some: object) =>
  server.use(
    http.get(at('system/config'), () =>
      HttpResponse.json({ version: 1, settings: some, sources: {}, live: [] }),
    ),
  );
const show = (element: React.ReactElement) => {
  const router = createRouter({
    routeTree: createRootRoute({ component: () => element }),
    history: createMemoryHistory(),
  });
  return render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
};
const issuesOf = (change: object) => {
  const result = formSchema.safeParse({ ...DEFAULTS, name: 'a', command: 'true', kind: 'manual', ...change });
  return result.success ? [] : result.error.issues.map((one) => [one.path[0], one.message]);
};
beforeEach(() => {
  queryClient.clear();
  withSettings(settings);
});

describe('notifications of a job', () => {
  it('the form returns notification settings unchanged', () => {
    for (const notify of [
      {},
      { on: [] },
      { on: ['recovered', 'failed'] },
      { late_after_s: 60 },
      { mail_to: ['a@b', 'c@d'] },
      { on: ['failed', 'not_known_yet'], late_after_s: 604_800, mail_to: ['a@b'], not_shown: { x: 1 } },
    ])
      expect(notifyFrom(notifyValuesOf(notify), notify)).toEqual(notify);
    expect(definitionFrom(valuesOf({ name: 'a' }), { name: 'a' })).not.toHaveProperty('notify');
    expect(definitionFrom(valuesOf(definitionOf(job)), definitionOf(job)).notify).toEqual({});
  });

  it('the form leaves out empty notification fields, and “none” differs from the cluster default', () => {
    const values = { tell: 'own', tell_on: ['failed'], late_after_s: ' 60 ', mail_to: ' a@b \n\n' };
    expect(notifyFrom(values, {})).toEqual({ on: ['failed'], late_after_s: 60, mail_to: ['a@b'] });
    const base = { on: ['late'], late_after_s: 5, mail_to: ['x@y'] };
    expect(notifyFrom({ ...values, tell: 'cluster', late_after_s: '', mail_to: '' }, base)).toEqual({});
    expect(notifyFrom({ ...values, tell: 'none', late_after_s: '', mail_to: '' }, base)).toEqual({ on: [] });
  });

  it('the form reports each invalid notification field', () => {
    expect(issuesOf({})).toEqual([]);
    expect(issuesOf({ tell: 'own', tell_on: [] })).toEqual([['tell_on', 'tick_any']]);
    expect(issuesOf({ tell: 'none', tell_on: [] })).toEqual([]);
    for (const late of ['0', '604801', '1.5', 'soon'])
      expect(issuesOf({ late_after_s: late })).toEqual([['late_after_s', 'range:1:604800']]);
    expect(issuesOf({ late_after_s: '604800', mail_to: 'a@b\nops+x@example.org' })).toEqual([]);
    for (const wrong of ['no address', 'a@b, c@d', '-a@b', 'a@', 'ö@b', `${'a'.repeat(253)}@b`]) {
      expect(issuesOf({ mail_to: 'a@b\n\n' + wrong }), wrong).toEqual([['mail_to', 'mail:3']]);
    }
    expect(issuesOf({ mail_to: Array(21).fill('a@b').join('\n') })).toEqual([['mail_to', 'mail_many:20']]);
  });

  it('pointers of the server lead to the notification fields', () => {
    expect(
      ['/notify/on/1', '/notify/late_after_s', '/notify/mail_to/0', '/notify/mail_to', '/notify'].map(
        (pointer) => fieldOf(pointer),
      ),
    ).toEqual(['tell', 'late_after_s', 'mail_to', 'mail_to', 'tell']);
  });

  it('a job’s notification settings override the cluster’s one by one', () => {
    expect(notificationSettingsOf({}, settings)).toEqual({
      kinds: ['failed', 'late'],
      own: false,
      lateAfterS: 300,
      channels: ['webhook', 'mail'],
      mailTo: ['ops@example.org', 'night@example.org'],
    });
    expect(notificationSettingsOf({ on: [], late_after_s: 60, mail_to: ['a@b'] }, settings)).toEqual({
      kinds: [],
      own: true,
      lateAfterS: 60,
      channels: ['webhook', 'mail'],
      mailTo: ['a@b'],
    });
    expect(
      notificationSettingsOf({}, { ...settings, 'notify.mail_to': '', 'notify.webhook_url': '' }).channels,
    ).toEqual([]);
    expect(notificationSettingsOf({}, undefined)).toEqual({
      kinds: null,
      own: false,
      lateAfterS: null,
      channels: null,
      mailTo: [],
    });
  });
});

describe('the section of the form', () => {
  beforeEach(() =>
    server.use(
      http.post(at('schedules/preview'), () =>
        HttpResponse.json({ valid: true, errors: [], explanations: [], items: [], warnings: [] }),
      ),
    ),
  );
  const telling = async (text: string) =>
    waitFor(() => expect(screen.getByTestId('telling').textContent).toBe(text));

  it('the notifications section describes the effect of the choices', async () => {
    show(<JobEditor start={definitionOf(job)} job={job} />);
    await screen.findByLabelText('Notify on');
    await telling(
      'Run failed and Run late (after 5 min). Recipients: Webhook and Mail to ops@example.org and night@example.org',
    );
    fireEvent.change(screen.getByLabelText('Notify on'), { target: { value: 'own' } });
    for (const kind of ['Missed fires', 'Job recovered', 'Job paused after failures', 'Approval needed'])
      fireEvent.click(screen.getByRole('checkbox', { name: kind }));
    fireEvent.change(screen.getByLabelText('Late after (seconds)'), {
      target: { value: '60' },
    });
    fireEvent.change(screen.getByLabelText('Mail recipients'), { target: { value: 'a@b' } });
    await telling('Run failed and Run late (after 1 min). Recipients: Webhook and Mail to a@b');
    fireEvent.click(screen.getByRole('button', { name: 'YAML' }));
    const text = await screen.findByLabelText<HTMLTextAreaElement>('YAML');
    const yaml = parse(text.value) as { notify: object };
    expect(yaml.notify).toEqual({ on: ['failed', 'late'], late_after_s: 60, mail_to: ['a@b'] });
    fireEvent.change(text, {
      target: { value: 'name: x\ncron_expression: 0 3 * * *\nnotify: {on: [recovered], late_after_s: 7}\n' },
    });
    fireEvent.click(screen.getByRole('button', { name: 'Form' }));
    expect(screen.getByRole<HTMLInputElement>('checkbox', { name: 'Job recovered' }).checked).toBe(true);
    expect(screen.getByRole<HTMLInputElement>('checkbox', { name: 'Run failed' }).checked).toBe(false);
    expect(screen.getByLabelText<HTMLInputElement>('Late after (seconds)').value).toBe('7');
    fireEvent.change(screen.getByLabelText('Notify on'), { target: { value: 'none' } });
    await telling('Nothing');
  });

  it('the notifications section warns when there is no recipient', async () => {
    withSettings({ ...settings, 'notify.webhook_url': '', 'notify.mail_server': '' });
    show(<JobEditor start={definitionOf(job)} job={job} />);
    await screen.findByLabelText('Notify on');
    await waitFor(() => expect(screen.getByTestId('telling').textContent).toContain('Recipients: none'));
  });

  it('the notifications section shows refused and missing values at their fields', async () => {
    const sent: { notify: object }[] = [];
    server.use(
      http.put(at('jobs/backup'), async ({ request }) => {
        sent.push((await request.json()) as never);
        return problem(400, 'invalid_request', 'no', {
          errors: [
            { pointer: '/notify/mail_to/0', code: 'bad_value', detail: 'It refuses this address.' },
            { pointer: '/notify/late_after_s', code: 'out_of_range', detail: 'It is too late.' },
          ],
        });
      }),
    );
    show(<JobEditor start={definitionOf(job)} job={job} />);
    fireEvent.change(await screen.findByLabelText('Notify on'), { target: { value: 'own' } });
    for (const kind of [
      'Run failed',
      'Missed fires',
      'Run late',
      'Job recovered',
      'Job paused after failures',
      'Approval needed',
    ])
      fireEvent.click(screen.getByRole('checkbox', { name: kind }));
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await screen.findByText('Select at least one event.');
    expect(sent).toEqual([]);
    fireEvent.click(screen.getByRole('checkbox', { name: 'Run late' }));
    fireEvent.change(screen.getByLabelText('Mail recipients'), { target: { value: 'a@b' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await screen.findByText('It refuses this address.');
    expect(sent[0]!.notify).toEqual({ on: ['late'], mail_to: ['a@b'] });
    expect(screen.getByLabelText('Mail recipients').getAttribute('aria-invalid')).toBe('true');
    const late = screen.getByLabelText('Late after (seconds)');
    expect(within(late.parentElement!).getByRole('alert').textContent).toBe('It is too late.');
  });
});

describe('the page of the job', () => {
  it('the job page says what is notified, to whom, and links to the deliveries', async () => {
    show(
      <div data-testid="fact">
        <NotificationFact job={{ ...job, notify: { mail_to: ['a@b'] } }} />
      </div>,
    );
    const link = await screen.findByRole('link', { name: 'View sent notifications' });
    expect(link.getAttribute('href')).toContain('/admin/deliveries?job_id=');
    await waitFor(() =>
      expect(screen.getByTestId('fact').textContent).toBe(
        'Run failed and Run late (after 5 min) · Cluster defaultRecipients: Webhook and Mail to a@bView sent notifications',
      ),
    );
  });

  it('the job page describes notifications even without the cluster settings', async () => {
    server.use(http.get(at('system/config'), () => problem(403, 'forbidden', 'no')));
    show(
      <div data-testid="fact">
        <NotificationFact job={job} />
      </div>,
    );
    await screen.findByRole('link', { name: 'View sent notifications' });
    expect(screen.getByTestId('fact').textContent).toBe('Cluster defaultView sent notifications');
  });
});
