// An API that answers what a test tells it to.
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';

export const at = (path: string) => 'http://console.test/api/' + path;
export const ROLES = [
  { role: 'read_only', permissions: ['read', 'self:manage:own'] },
  {
    role: 'user',
    permissions: ['read', 'self:manage:own', 'jobs:write:own', 'jobs:run:own', 'secrets:write:own'],
  },
  { role: 'admin', permissions: ['read', 'self:manage', 'jobs:write', 'jobs:run', 'users:manage'] },
];
// What is asked for beside what a test is about.
export const server = setupServer(
  http.get(at('recent-runs'), ({ request }) =>
    HttpResponse.json({
      items: new URL(request.url).searchParams.getAll('job_id').map((job_id) => ({ job_id, runs: [] })),
    }),
  ),
  http.get(at('failing-jobs'), () => HttpResponse.json({ items: [], next_page_token: null, total: 0 })),
  http.get(at('groups'), () => HttpResponse.json({ items: [] })),
  http.get(at('calendars'), () => HttpResponse.json({ items: [] })),
  http.get(at('roles'), () => HttpResponse.json({ items: ROLES, next_page_token: null, total: 3 })),
  http.get(at('namespaces'), () =>
    HttpResponse.json({ items: [{ namespace: 'default' }, { namespace: 'payroll' }], next_page_token: null }),
  ),
);

export const problem = (status: number, code: string, detail: string, more: object = {}) =>
  HttpResponse.json(
    {
      type: 'urn:carillon:problem:' + code,
      title: code,
      status,
      code,
      detail,
      trace_id: 'abc',
      errors: [],
      ...more,
    },
    {
      status,
      headers: { 'Content-Type': 'application/problem+json' },
    },
  );
export { HttpResponse, http };
