// Page that imports jobs from files. It first shows what would happen to each job. Then it applies exactly
// what it has shown. Definitions of other schedulers have a form of their own.
import './texts.en';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Upload } from 'lucide-react';
import { Suspense, lazy, useRef, useState } from 'react';
import { ApiError, call } from '../../../api/client';
import { newKey } from '../../../api/keys';
import { useNamespaces } from '../../../api/queries';
import { useMay } from '../../../auth/session';
import { useTranslation } from '../../../i18n/use_translation';
import { Field } from '../../../ui/field';
import { Card, Loading, PageHeader, Segments } from '../../../ui/ui';
import { KINDS, NAMES, type Kind } from '../imports/kinds';
import { Failed } from './failed';
import { ImportResult } from './import_result';
import { asSeen, queryOf, readJobs, type Applied, type Options, type Unread } from './import_values';

const ForeignImport = lazy(() => import('../imports/foreign_import'));
const FILES = 'files'; // job files of Carillon

interface Seen {
  of: string;
  answer: Applied;
  key: string;
} // `of`: the text and options for which the preview was made

export function ImportPage() {
  const { t } = useTranslation();
  const [kind, setKind] = useState<Kind | typeof FILES>(FILES);
  return (
    <>
      <PageHeader title={t('import.title')} documentTitle={t('import.title')} under={t('import.under')} />
      <div className="mb-4">
        <Segments
          label={t('import.source')}
          value={kind}
          choices={[
            { value: FILES, label: t('import.source_files') },
            ...KINDS.map((value) => ({ value, label: NAMES[value] })),
          ]}
          onChange={(next) => setKind(next as Kind | typeof FILES)}
        />
      </div>
      {kind === FILES ? (
        <JobFiles />
      ) : (
        <Suspense fallback={<Loading />}>
          <ForeignImport key={kind} kind={kind} />
        </Suspense>
      )}
    </>
  );
}

function JobFiles() {
  const { t } = useTranslation();
  const client = useQueryClient();
  const may = useMay('jobs:write');
  const [text, setText] = useState('');
  const [options, setOptions] = useState<Options>({ namespace: '', prune: false, selector: '' });
  const [unread, setUnread] = useState<Unread | null>(null);
  const [seen, setSeen] = useState<Seen | null>(null);
  const [done, setDone] = useState<Applied | null>(null);
  const now = JSON.stringify([text, queryOf(options)]);
  const result = useRef<HTMLDivElement>(null);
  const show = () => result.current?.focus();
  const change = () => {
    setUnread(null);
    setDone(null);
    apply.reset();
    look.reset();
  };
  const look = useMutation({
    mutationFn: async () => {
      setSeen(null);
      setDone(null);
      apply.reset();
      const read = readJobs(text);
      setUnread('wrong' in read ? read.wrong : null);
      if ('wrong' in read) return;
      const { data } = await call<Applied>('POST', 'apply', {
        query: { ...queryOf(options), dry_run: 'true' },
        body: read.jobs,
      });
      setSeen({ of: now, answer: data, key: newKey() });
    },
    onSuccess: show,
  });
  const apply = useMutation({
    mutationFn: async ({ answer, key }: Seen) => {
      const read = readJobs(text);
      if ('wrong' in read) return;
      const { data } = await call<Applied>('POST', 'apply', {
        query: queryOf(options),
        body: asSeen(read.jobs, answer),
        idempotencyKey: key,
      });
      setDone(data);
      setSeen(null);
    },
    onSuccess: show,
    onSettled: () => void client.invalidateQueries({ queryKey: ['jobs'] }),
  });
  const ready = seen !== null && seen.of === now;
  const shown = done ?? (ready ? seen.answer : null);
  const busy = look.isPending || apply.isPending;
  const failure = apply.error ?? look.error;
  return (
    <>
      <form
        className="grid gap-4"
        onSubmit={(event) => {
          event.preventDefault();
          look.mutate();
        }}
      >
        <Card>
          <div className="grid gap-3">
            <Source
              text={text}
              wrong={unread}
              onText={(next) => {
                setText(next);
                change();
              }}
            />
            <How
              options={options}
              error={failure}
              onChange={(next) => {
                setOptions(next);
                change();
              }}
            />
            <div className="flex flex-wrap items-center gap-2">
              <button
                type="submit"
                className={'button ' + (ready ? '' : 'button-primary')}
                disabled={busy || !may || text.trim() === ''}
                title={may ? undefined : t('denied.write')}
              >
                {t('import.look')}
              </button>
              <button
                type="button"
                className={'button ' + (ready ? 'button-primary' : '')}
                disabled={busy || !may || !ready || !doesSomething(seen.answer)}
                title={may ? undefined : t('denied.write')}
                onClick={() => ready && apply.mutate(seen)}
              >
                <Upload aria-hidden size={15} />
                {t('import.apply')}
              </button>
              {!ready && !done && <span className="text-muted">{t('import.look_first')}</span>}
            </div>
          </div>
        </Card>
      </form>
      {failure !== null && <Failed error={failure} />}
      <div ref={result} tabIndex={-1} className="mt-4 outline-none">
        {shown && <ImportResult applied={shown} />}
      </div>
    </>
  );
}

const doesSomething = ({ counts }: Applied) =>
  ['created', 'updated', 'pruned'].some((result) => (counts[result] ?? 0) > 0);

function Source({
  text,
  wrong,
  onText,
}: {
  text: string;
  wrong: Unread | null;
  onText: (text: string) => void;
}) {
  const { t } = useTranslation();
  const choose = async (files: FileList | null) => {
    const texts = await Promise.all([...(files ?? [])].map((file) => file.text()));
    if (texts.length > 0) onText(texts.join('\n---\n'));
  };
  return (
    <>
      <Field label={t('import.files')}>
        <input
          type="file"
          className="input"
          multiple
          accept=".yaml,.yml,.json"
          onChange={(event) => void choose(event.target.files)}
        />
      </Field>
      <Field
        label={t('import.text')}
        error={wrong ? t(wrong.key, wrong.values) : undefined}
        hint={t('import.text_hint')}
      >
        <textarea
          className="input mono min-h-[30dvh]"
          spellCheck={false}
          value={text}
          onChange={(event) => onText(event.target.value)}
        />
      </Field>
    </>
  );
}

function How({
  options,
  error,
  onChange,
}: {
  options: Options;
  error: unknown;
  onChange: (options: Options) => void;
}) {
  const { t } = useTranslation();
  const namespaces = useNamespaces();
  const errorOf = (pointer: string) =>
    error instanceof ApiError ? error.errors.find((one) => one.pointer === pointer)?.detail : undefined;
  const within = options.namespace.trim() !== '';
  const prune = within && options.prune;
  return (
    <>
      <Field
        label={t('jobs.namespace')}
        error={errorOf('?namespace')}
        hint={t('import.namespace_hint')}
        className="sm:max-w-sm"
      >
        <input
          className="input"
          list="import-namespaces"
          autoComplete="off"
          spellCheck={false}
          placeholder="default"
          value={options.namespace}
          onChange={(event) =>
            onChange({
              ...options,
              namespace: event.target.value,
              prune: options.prune && event.target.value.trim() !== '',
            })
          }
        />
      </Field>
      <datalist id="import-namespaces">
        {namespaces.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </datalist>
      <label className="flex items-start gap-2">
        <input
          type="checkbox"
          className="mt-0.5 size-4"
          disabled={!within}
          checked={prune}
          onChange={(event) => onChange({ ...options, prune: event.target.checked })}
        />
        <span>
          {t('import.prune')}
          <span className="block text-xs text-muted">
            {t(within ? 'import.prune_hint' : 'import.prune_where')}
          </span>
        </span>
      </label>
      {prune && (
        <Field
          label={t('import.selector')}
          error={errorOf('?selector')}
          hint={t('import.selector_hint')}
          className="sm:max-w-sm"
        >
          <input
            className="input mono"
            autoComplete="off"
            spellCheck={false}
            placeholder="team = etl"
            value={options.selector}
            onChange={(event) => onChange({ ...options, selector: event.target.value })}
          />
        </Field>
      )}
    </>
  );
}
