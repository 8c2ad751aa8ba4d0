import { QueryClientProvider } from '@tanstack/react-query';
import { fireEvent, render, screen, waitFor } from '@testing-library/react';
import { describe, expect, it, vi } from 'vitest';
import { queryClient } from '../../api/queries';
import type { Executor } from '../../api/types';
import { LabelDialog, ReasonDialog } from './executor_dialogs';
import { Behind } from './executor_facts';
import JoinDialog from './join_dialog';
import { PLACES, commandsFor, isExecutorId } from './join_values';
import { HttpResponse, at, http, problem, server } from '../../../test_support/server';
import '../../ui/dialogs/modal_dialog';

const show = (element: React.ReactElement) =>
  render(<QueryClientProvider client={queryClient}>{element}</QueryClientProvider>);
const status = http.get(at('system/status'), () => HttpResponse.json({ version: '0.1.0' }));

describe('join commands', () => {
  const joining = { executor: 'executor-7', token: 'secret:certificate', version: '0.1.0', address: null };
  it('the join commands name ID, token file and certificates for every environment', () => {
    for (const place of PLACES) {
      const text = commandsFor(place, joining);
      for (const part of ['executor-7', 'secret:certificate', 'join-token'])
        expect(text, place).toContain(part);
      expect(text, place).toMatch(/link\.tls=mutual|LINK_TLS=mutual/);
      expect(text, place).toMatch(/umask 077|-m 0600/);
    }
    expect(commandsFor('systemd', joining)).toContain(
      'Environment=CARILLON_EXECUTOR_ID=executor-7 CARILLON_LINK_TLS=mutual CARILLON_LINK_JOIN_TOKEN_FILE=/etc/carillon/join-token\n',
    );
    expect(commandsFor('container', joining)).toContain('"$PWD/join-token:/run/secrets/join-token:ro"');
  });
  it('the join commands use the shared secret when there is no token', () => {
    for (const place of PLACES) {
      const text = commandsFor(place, { ...joining, token: null });
      expect(text, place).toMatch(/join_secret_file=|JOIN_SECRET_FILE=/);
      expect(text, place).not.toMatch(/join.token|mutual|null/);
    }
  });
  it('the join commands need only an address for a server without Kafka and ZooKeeper', () => {
    for (const place of PLACES) {
      const text = commandsFor(place, { ...joining, address: '10.0.0.1:8641' });
      expect(text, place).toMatch(/link\.members=10\.0\.0\.1:8641|LINK_MEMBERS=10\.0\.0\.1:8641/);
      expect(text, place).not.toMatch(/--config|zookeeper/);
    }
  });
  it('an executor ID is checked against its pattern', () => {
    expect(['executor-7', '7', 'a'.repeat(63)].every(isExecutorId)).toBe(true);
    expect(['', '-a', 'A', 'a b', 'a;rm', 'a'.repeat(64), '$(x)'].some(isExecutorId)).toBe(false);
  });
});

describe('joining', () => {
  it('the join dialog requests a token with its lifetime and shows it once', async () => {
    const seen: unknown[] = [];
    server.use(
      status,
      http.post(at('executors/join-tokens'), async ({ request }) => {
        seen.push(await request.json());
        return HttpResponse.json(
          {
            token_id: 'tok-1',
            executor_id: 'executor-7',
            expires_at: '2026-03-02T12:00:00Z',
            join_token: 'shown-once',
            link_address: null,
          },
          { status: 201 },
        );
      }),
    );
    show(<JoinDialog onClose={() => {}} />);
    fireEvent.change(await screen.findByLabelText('Executor ID'), {
      target: { value: ' executor-7 ' },
    });
    fireEvent.change(screen.getByLabelText('Token valid for'), { target: { value: '86400' } });
    fireEvent.click(screen.getByRole('button', { name: 'Show the commands' }));
    expect(
      (await screen.findByRole('region', { name: 'Commands to run on the host' })).textContent,
    ).toContain('shown-once');
    expect(screen.getByText('2026-03-02 12:00:00 UTC')).toBeTruthy();
    expect(seen).toEqual([{ executor_id: 'executor-7', expires_in_s: 86_400 }]);
    fireEvent.click(screen.getByRole('button', { name: 'systemd' }));
    expect(screen.getByRole('region').textContent).toContain('systemctl enable --now');
  });
  it('the join dialog shows a refused ID at its field', async () => {
    server.use(
      http.post(at('executors/join-tokens'), () =>
        problem(400, 'invalid', 'no', {
          errors: [{ pointer: '/executor_id', code: 'other', detail: 'This is no id.' }],
        }),
      ),
    );
    show(<JoinDialog onClose={() => {}} />);
    fireEvent.click(await screen.findByRole('button', { name: 'Show the commands' }));
    expect((await screen.findByRole('alert')).textContent).toContain('This is no id.');
  });
});

describe('draining', () => {
  it('the drain dialog sends the reason and shows a refusal', async () => {
    const seen: unknown[] = [];
    server.use(
      http.post(at('executors/one/drain'), async ({ request }) => {
        seen.push(await request.json());
        return seen.length === 1 ? problem(503, 'unavailable', 'The store is away.') : HttpResponse.json({});
      }),
    );
    const onDone = vi.fn();
    show(
      <ReasonDialog
        executor={{ executor_id: 'one', running: 2 } as Executor}
        verb="drain"
        onClose={() => {}}
        onDone={onDone}
      />,
    );
    fireEvent.change(await screen.findByLabelText('Reason (optional)'), { target: { value: ' new disks ' } });
    fireEvent.click(screen.getByRole('button', { name: 'Drain' }));
    expect((await screen.findByRole('alert')).textContent).toContain('The store is away.');
    expect(onDone).not.toHaveBeenCalled();
    fireEvent.click(screen.getByRole('button', { name: 'Drain' }));
    await waitFor(() => expect(onDone).toHaveBeenCalledOnce());
    expect(seen).toEqual([{ reason: 'new disks' }, { reason: 'new disks' }]);
  });
});

describe('labels', () => {
  const executor = { executor_id: 'e1', labels: { zone: 'a' } } as unknown as Executor;
  const change = async () => {
    fireEvent.change(await screen.findByRole('textbox'), { target: { value: 'zone=b' } });
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
  };
  it('the label dialog writes against the version that it showed', async () => {
    const seen: unknown[] = [];
    const closed = vi.fn();
    server.use(
      http.get(at('executors/e1'), () =>
        HttpResponse.json({ executor_id: 'e1', labels: { zone: 'a' } }, { headers: { ETag: '"h1"' } }),
      ),
      http.patch(at('executors/e1'), async ({ request }) => {
        seen.push(request.headers.get('If-Match'), await request.json());
        return HttpResponse.json({ executor_id: 'e1', labels: { zone: 'b' } });
      }),
    );
    show(<LabelDialog executor={executor} onClose={closed} />);
    await change();
    await waitFor(() => expect(closed).toHaveBeenCalled());
    expect(seen).toEqual(['"h1"', { labels: { zone: 'b' } }]);
  });
  it('the label dialog does not overwrite labels that somebody changed meanwhile', async () => {
    const patched = vi.fn();
    server.use(
      http.get(at('executors/e1'), () =>
        HttpResponse.json({ executor_id: 'e1', labels: { zone: 'c' } }, { headers: { ETag: '"h2"' } }),
      ),
      http.patch(at('executors/e1'), () => {
        patched();
        return HttpResponse.json({});
      }),
    );
    show(<LabelDialog executor={executor} onClose={() => {}} />);
    await change();
    expect((await screen.findByRole('alert')).textContent).toContain('were changed since they were read');
    expect(patched).not.toHaveBeenCalled();
    // The dialog shows the changed labels, so that saving again is a decision.
    expect(screen.getByLabelText('Current labels').textContent).toBe('zone=c');
    fireEvent.click(screen.getByRole('button', { name: 'Save' }));
    await waitFor(() => expect(patched).toHaveBeenCalledTimes(1));
  });
  it('the label dialog sends nothing when the labels are already as wanted', async () => {
    const [patched, closed] = [vi.fn(), vi.fn()];
    server.use(
      http.get(at('executors/e1'), () =>
        HttpResponse.json({ executor_id: 'e1', labels: { zone: 'b' } }, { headers: { ETag: '"h2"' } }),
      ),
      http.patch(at('executors/e1'), () => {
        patched();
        return HttpResponse.json({});
      }),
    );
    show(<LabelDialog executor={executor} onClose={closed} />);
    await change();
    await waitFor(() => expect(closed).toHaveBeenCalled());
    expect(patched).not.toHaveBeenCalled();
  });
});

describe('the backlog of an executor', () => {
  it('the backlog shows a count, or a dash when it is unknown', () => {
    const { container, rerender } = render(<Behind tasks={1200} />);
    expect(container.textContent).toBe('1,200');
    rerender(<Behind tasks={0} />);
    expect(container.textContent).toBe('0');
    for (const tasks of [null, undefined]) {
      rerender(<Behind tasks={tasks} />);
      expect(container.textContent).toBe('–');
    }
  });
});
