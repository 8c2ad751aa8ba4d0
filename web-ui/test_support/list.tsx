// A list of two jobs with everything that lists share: selection, bar, columns, views.
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider, createMemoryHistory, createRootRoute, createRouter } from '@tanstack/react-router';
import { render } from '@testing-library/react';
import { parseSearch, stringifySearch } from '../src/lib/search_params';
import { queryClient, type totalOf } from '../src/api/queries';
import { useColumns } from '../src/features/lists/columns';
import { ListBar, useSelectable, useTickColumn } from '../src/features/lists/list_bar';
import './texts';
// What is fetched when it is needed is there from the beginning: no test waits for it.
import '../src/features/lists/list_tools';
import '../src/features/bulk/bulk_dialog';
import '../src/ui/dialogs/modal_dialog';

const jobs = [
  { id: 'mine', name: 'My job', state: 'ENABLED' },
  { id: 'hers', name: 'Her job', state: 'ENABLED' },
];
export function List({
  hasMore = false,
  total = null,
}: {
  hasMore?: boolean;
  total?: ReturnType<typeof totalOf>;
}) {
  const columns = useColumns('job', [
    { id: 'owner', label: 'Owner', usual: true },
    { id: 'changed', label: 'Changed', usual: false },
  ]);
  const list = useSelectable({ kind: 'job', search: { q: 'job' }, rows: jobs, hasMore, total, columns });
  const ticks = useTickColumn(list, (job: (typeof jobs)[number]) => job);
  return (
    <>
      <ListBar list={list} always="Job" />
      <p>{['owner', 'changed'].filter(columns.isShown).join()}</p>
      {jobs.map((job) => (
        <div key={job.id}>{ticks.cell(job)}</div>
      ))}
    </>
  );
}
export function show(element: React.ReactElement) {
  const router = createRouter({
    routeTree: createRootRoute({ component: () => element }),
    history: createMemoryHistory({ initialEntries: ['/?q=job'] }),
    parseSearch,
    stringifySearch,
  });
  return render(
    <QueryClientProvider client={queryClient}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>,
  );
}
