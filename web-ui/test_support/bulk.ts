// Bulk actions as the server answers them.
import { HttpResponse, at, http, server } from './server';

export interface Asked {
  action: string;
  kind: string;
  ids?: string[];
  filter?: object;
  dry_run?: boolean;
  reason?: string;
}

// `refused` belong to somebody else.
export function answerBulk(refused: readonly string[], seen: Asked[] = [], matching: readonly string[] = []) {
  server.use(
    http.post(at('bulk'), async ({ request }) => {
      const body = (await request.json()) as Asked;
      seen.push(body);
      const items = (body.ids ?? matching).map((id) =>
        refused.includes(id)
          ? {
              id,
              result: 'error',
              run_id: null,
              error: { code: 'not_owner', detail: id + ' belongs to somebody else.' },
            }
          : { id, result: body.dry_run ? 'would' : 'done', run_id: null, error: null },
      );
      return HttpResponse.json({ total: items.length, more: false, items });
    }),
  );
  return seen;
}

export const many = (n: number) => Array.from({ length: n }, (_, i) => 'job-' + i);
