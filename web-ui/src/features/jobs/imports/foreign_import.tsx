// Form that imports the definitions of another scheduler. The server converts them and reports each row.
// Then the jobs are created, paused, in batches.
import './texts.en';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useMemo, useRef, useState } from 'react';
import { ApiError, call } from '../../../api/client';
import type { Imported } from '../../../api/types';
import { useMay } from '../../../auth/session';
import { useTranslation } from '../../../i18n/use_translation';
import { Bar } from '../../../ui/bar';
import { Card } from '../../../ui/ui';
import type { Definition } from '../form/definition';
import { Failed } from '../transfer/failed';
import { beginCreation, doneOf, isOver, keyed, sendBatch, type Creation } from './create_jobs';
import { ImportReport } from './import_report';
import type { Kind } from './kinds';
import { rowsOf, tally } from './report';
import { SourceFields, type SourceValues } from './source_fields';
import { BODY_BYTES_MAX, textOf } from './sources';

const NOTHING: SourceValues = { text: '', files: [], zone: '', namespace: '', prefix: '', system: false };

interface Converted {
  imported: Imported;
  zone: string;
  namespace: string;
}

export default function ForeignImport({ kind }: { kind: Kind }) {
  const { t } = useTranslation();
  const may = useMay('jobs:write');
  const [values, setValues] = useState(NOTHING);
  const [tooBig, setTooBig] = useState(false);
  const [converted, setConverted] = useState<Converted | null>(null);
  const result = useRef<HTMLDivElement>(null);
  const convert = useMutation({
    mutationFn: async () => {
      setConverted(null);
      const body = {
        text: textOf(kind, values),
        time_zone: values.zone.trim(),
        ...(values.prefix.trim() ? { prefix: values.prefix.trim() } : {}),
        ...(kind === 'crontab' && values.system ? { system: true } : {}),
      };
      const fits = new Blob([JSON.stringify(body)]).size <= BODY_BYTES_MAX;
      setTooBig(!fits);
      if (!fits) return;
      const { data } = await call<Imported>('POST', `imports/${kind}`, { body });
      setConverted({ imported: data, zone: body.time_zone, namespace: values.namespace.trim() });
    },
    onSuccess: () => result.current?.focus(),
  });
  const empty = values.files.length === 0 && values.text.trim() === '';
  return (
    <>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          convert.mutate();
        }}
      >
        <Card>
          <div className="grid gap-3">
            <SourceFields
              kind={kind}
              values={values}
              tooBig={tooBig}
              errors={convert.error instanceof ApiError ? convert.error.errors : []}
              onChange={(next) => {
                setValues(next);
                setTooBig(false);
                setConverted(null);
                convert.reset();
              }}
            />
            <div className="flex flex-wrap items-center gap-2">
              <button
                type="submit"
                className={'button ' + (converted ? '' : 'button-primary')}
                disabled={convert.isPending || !may || empty || values.zone.trim() === ''}
                title={may ? undefined : t('denied.write')}
              >
                {t('imports.convert')}
              </button>
              {!converted && <span className="text-muted">{t('imports.nothing_yet')}</span>}
            </div>
          </div>
        </Card>
      </form>
      {convert.error !== null && <Failed error={convert.error} />}
      <div ref={result} tabIndex={-1} className="mt-4 outline-none">
        {converted && <Create kind={kind} {...converted} />}
      </div>
    </>
  );
}

function Create({ kind, imported, zone, namespace }: Converted & { kind: Kind }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const may = useMay('jobs:write');
  const jobs = imported.jobs as Definition[];
  const [creation, setCreation] = useState<Creation>(() => beginCreation(jobs, namespace));
  const stopped = useRef(false);
  useEffect(() => {
    stopped.current = false; // effects of a component may run twice
    return () => {
      stopped.current = true;
    };
  }, []);
  const create = useMutation({
    mutationFn: async () => {
      stopped.current = false;
      let now = creation;
      while (!isOver(now) && !stopped.current) {
        now = keyed(now);
        setCreation(now);
        // oxlint-disable-next-line no-await-in-loop -- a batch may depend on the one before
        now = await sendBatch(now);
        setCreation(now);
      }
    },
    onSettled: () => void client.invalidateQueries({ queryKey: ['jobs'] }),
  });
  const rows = useMemo(() => rowsOf(imported, zone), [imported, zone]);
  const done = doneOf(creation);
  const began = done > 0 || creation.key !== null;
  const { created, exists, failed } = tally(creation.outcomes);
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-3">
        {!isOver(creation) && (
          <button
            type="button"
            className="button button-primary"
            disabled={create.isPending || !may}
            title={may ? undefined : t('denied.write')}
            onClick={() => create.mutate()}
          >
            {began ? t('imports.continue') : t('imports.create', { n: jobs.length, count: jobs.length })}
          </button>
        )}
        {create.isPending && (
          <button type="button" className="button" onClick={() => (stopped.current = true)}>
            {t('imports.stop')}
          </button>
        )}
        {(create.isPending || began) && <Bar share={done / jobs.length} className="h-1.5 w-40" />}
        <p role="status">
          {began
            ? t('imports.did', { done, of: jobs.length, created, exists, failed })
            : jobs.length > 0 && t('imports.paused_hint')}
        </p>
        {created > 0 && !create.isPending && (
          <Link to="/jobs" search={{ selector: `imported-from = ${kind}` }} className="link">
            {t('imports.show_jobs')}
          </Link>
        )}
      </div>
      {create.error !== null && <Failed error={create.error} />}
      <ImportReport rows={rows} outcomes={creation.outcomes} />
    </>
  );
}
