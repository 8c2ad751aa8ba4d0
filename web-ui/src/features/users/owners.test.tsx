import '../../../test_support/texts';
import { QueryClientProvider } from '@tanstack/react-query';
import { render, screen } from '@testing-library/react';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { queryClient } from '../../api/queries';
import { signOut } from '../../auth/session';
import { ImportResult } from '../jobs/transfer/import_result';
import { useOwnerText } from './owners';
import { signedInAs } from '../../../test_support/person';
import { HttpResponse, at, http, server } from '../../../test_support/server';

const GENERATED = 'user-b3710a1dd3e1c59c';

function Owner({ of }: { of: string }) {
  return <p>owner: {useOwnerText()(of)}</p>;
}
const show = (of: string) =>
  render(
    <QueryClientProvider client={queryClient}>
      <Owner of={of} />
    </QueryClientProvider>,
  );

describe('an owner', () => {
  let reads: number;
  beforeEach(() => {
    queryClient.clear();
    reads = 0;
    server.use(
      http.get(at('users'), () => {
        ++reads;
        return HttpResponse.json({ items: [{ user_id: GENERATED, name: 'anna' }], next_page_token: null });
      }),
    );
  });
  afterEach(() => signOut());

  it('an owner is shown by name to people who may read users', async () => {
    await signedInAs(['users:manage']);
    show(GENERATED);
    await screen.findByText('owner: anna');
  });

  it('an owner is shown by name in the preview of an import', async () => {
    await signedInAs(['users:manage']);
    const item = {
      index: 0,
      job_id: null,
      name: 'Nightly',
      result: 'created',
      version: null,
      changes: [{ path: '/user_id', from: null, to: GENERATED }],
      error: null,
    };
    render(
      <QueryClientProvider client={queryClient}>
        <ImportResult
          applied={{ dry_run: true, counts: { created: 1 }, prune_complete: null, items: [item] }}
        />
      </QueryClientProvider>,
    );
    await screen.findByText('anna');
    expect(screen.queryByText(GENERATED)).toBeNull();
  });

  it('an owner without an entry is shown by the beginning of the ID', async () => {
    await signedInAs(['users:manage']);
    show('user-0000000000000000');
    await screen.findByText('owner: user-0000…');
  });

  it('an owner is “another user” to everybody else, and users are not requested', async () => {
    await signedInAs(['read']);
    show(GENERATED);
    await screen.findByText('owner: another user');
    expect(reads).toBe(0);
  });

  it('an owner given as free text stays as it is', async () => {
    await signedInAs(['read']);
    show('team-etl');
    await screen.findByText('owner: team-etl');
  });
});
