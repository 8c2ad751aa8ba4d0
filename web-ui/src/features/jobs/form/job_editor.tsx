// The editor around the form and the YAML text: saving, conflicts, warning about unsaved changes.
import './texts.en';
import { useQueryClient } from '@tanstack/react-query';
import { useBlocker, useNavigate } from '@tanstack/react-router';
import { Save } from 'lucide-react';
import { zodResolver } from '@hookform/resolvers/zod';
import { Suspense, useEffect, useRef, useState } from 'react';
import { FormProvider, useForm } from 'react-hook-form';
import { parse, stringify } from 'yaml';
import { ApiError, call } from '../../../api/client';
import { newKey } from '../../../api/keys';
import type { FieldError, Job } from '../../../api/types';
import { useDenied } from '../../../auth/session';
import { useTranslation } from '../../../i18n/use_translation';
import { early } from '../../../lib/preload';
import { toast, toastError } from '../../../ui/toasts';
import { Modal } from '../../../ui/dialogs/modal';
import { Segments, explain } from '../../../ui/ui';
import { ConflictDialog } from './conflict_dialog';
import { FormSections } from './form_sections';
import type { Definition } from './definition';
import { definitionFrom, definitionOf, fieldOf, normalised, valuesOf } from './form_values';
import { formSchema, DEFAULTS, type FormValues } from './form_schema';
import { jobPath } from '../actions/job_actions';

const YamlTab = early(() => import('../yaml/yaml_tab'));

export function JobEditor(props: { start: Definition; job?: Job }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const client = useQueryClient();
  const [base, setBase] = useState(props.start); // has the values of fields that the form does not show
  const [tab, setTab] = useState('form');
  const [yaml, setYaml] = useState('');
  const [yamlChanged, setYamlChanged] = useState(false);
  const [errors, setErrors] = useState<FieldError[]>([]);
  const [conflict, setConflict] = useState<{ mine: Definition; theirs: Job } | null>(null);
  const [busy, setBusy] = useState(false);
  const saved = useRef(false);
  const submission = useRef<{ body: string; key: string } | null>(null);
  const isNew = props.job === undefined;
  const denied = useDenied()(props.job ?? {}, 'edit');
  const form = useForm<FormValues>({
    resolver: zodResolver(formSchema),
    defaultValues: isNew && Object.keys(props.start).length === 0 ? DEFAULTS : valuesOf(props.start),
  });
  const { isDirty } = form.formState;
  const dirty = isDirty || yamlChanged;
  const blocker = useBlocker({
    shouldBlockFn: () => dirty && !saved.current,
    enableBeforeUnload: () => dirty && !saved.current,
    withResolver: true,
  });

  const toYaml = () => {
    setYaml(yamlOf(definitionFrom(form.getValues(), base)));
    setTab('yaml');
  };
  const toForm = () => {
    const read = readYaml(yaml);
    if (read === null) {
      setErrors([{ pointer: '', code: 'yaml', detail: t('form.bad_yaml') }]);
      return;
    }
    if (yamlChanged) {
      setBase(read);
      // A text that does not say whether the job is enabled leaves it as it is.
      form.reset(valuesOf({ enabled: props.start.enabled, ...read }), { keepDefaultValues: true });
      setYamlChanged(false);
    }
    setErrors([]);
    setTab('form');
  };

  const showErrors = (all: FieldError[]) => {
    const rest: FieldError[] = [];
    for (const one of all) {
      const field = fieldOf(
        one.pointer,
        form.getValues('kind') === 'several',
        form.getValues('rules').map((row) => row.name.trim()),
      );
      if (tab === 'form' && field)
        form.setError(field, { type: 'server', message: one.detail }, { shouldFocus: rest.length === 0 });
      else rest.push(one);
    }
    setErrors(rest);
  };

  const save = async (definition: Definition, version: number | undefined) => {
    setBusy(true);
    setErrors([]);
    try {
      const { data } = await store(definition, version);
      saved.current = true;
      toast(t(isNew ? 'form.created' : 'form.saved', { name: data.name }));
      await client.invalidateQueries({ queryKey: ['jobs'] });
      await navigate({ to: '/jobs/$id', params: { id: data.job_id } });
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === 'stale_version' && error.problem?.current) {
        setConflict({ mine: definition, theirs: error.problem.current as Job });
      } else if (error.errors.length > 0) {
        showErrors(error.errors);
      } else if (error.code === 'exists') {
        showErrors([{ pointer: '/job_id', code: 'exists', detail: explain(error, t) }]);
      } else {
        toastError(t('form.not_saved'), explain(error, t));
      }
    } finally {
      setBusy(false);
    }
  };
  // The same submission keeps its key, so that one job is created, however often it is sent.
  const store = (definition: Definition, version: number | undefined) => {
    if (!isNew)
      return call<Job>('PUT', jobPath(props.job!.job_id), { body: definition, ifMatch: `"v${version}"` });
    const body = JSON.stringify(definition);
    if (submission.current?.body !== body) submission.current = { body, key: newKey() };
    return call<Job>('POST', 'jobs', { body: definition, idempotencyKey: submission.current.key });
  };
  const submit = async () => {
    if (tab === 'yaml') {
      const read = readYaml(yaml);
      if (read === null) setErrors([{ pointer: '', code: 'yaml', detail: t('form.bad_yaml') }]);
      else await save(read, props.job?.version);
      return;
    }
    await form.handleSubmit((values) => save(definitionFrom(values, base), props.job?.version))();
  };
  useEffect(() => {
    form.setFocus('name');
  }, [form]);

  return (
    <FormProvider {...form}>
      <form
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <div className="mb-4">
          <Segments
            label={t('form.view')}
            value={tab}
            onChange={(next) => (next === tab ? undefined : next === 'yaml' ? toYaml() : toForm())}
            choices={[
              { value: 'form', label: t('form.form') },
              { value: 'yaml', label: 'YAML' },
            ]}
          />
        </div>
        {tab === 'form' && errors.length > 0 && (
          <div role="alert" className="mb-4 rounded-md bg-bad-soft p-3 text-bad">
            <ul>
              {errors.map((one, i) => (
                <li key={i}>
                  {one.pointer && <span className="mono">{one.pointer}: </span>}
                  {one.detail}
                </li>
              ))}
            </ul>
          </div>
        )}
        {tab === 'form' ? (
          <FormSections isNew={isNew} base={base} />
        ) : (
          <Suspense>
            <YamlTab
              text={yaml}
              jobId={props.job?.job_id}
              errors={errors}
              onChange={(text) => {
                setYaml(text);
                setYamlChanged(true);
                setErrors([]);
              }}
            />
          </Suspense>
        )}
        <div className="sticky bottom-0 z-10 -mx-4 mt-4 flex justify-end gap-2 border-t bg-ground px-4 py-3 md:-mx-6 md:px-6">
          <button
            type="button"
            className="button"
            onClick={() =>
              void navigate(isNew ? { to: '/jobs' } : { to: '/jobs/$id', params: { id: props.job!.job_id } })
            }
          >
            {t('cancel')}
          </button>
          <button
            type="submit"
            className="button button-primary"
            disabled={busy || denied !== undefined}
            title={denied && t(denied)}
          >
            <Save aria-hidden size={15} />
            {isNew ? t('form.create') : t('form.save')}
          </button>
        </div>
      </form>
      <ConflictDialog
        base={props.start}
        conflict={conflict}
        onClose={() => setConflict(null)}
        onOverwrite={() => {
          const c = conflict!;
          setConflict(null);
          void save(c.mine, c.theirs.version);
        }}
        onReload={() => {
          saved.current = true;
          void client.resetQueries({ queryKey: ['edit', props.job?.job_id] }).then(() => {
            saved.current = false;
            if (conflict) form.reset(valuesOf(definitionOf(conflict.theirs)));
            setYamlChanged(false);
            setConflict(null);
          });
        }}
      />
      <Modal
        open={blocker.status === 'blocked'}
        onClose={() => blocker.reset?.()}
        title={t('form.unsaved_title')}
        actions={
          <>
            <button type="button" className="button" onClick={() => blocker.reset?.()}>
              {t('form.stay')}
            </button>
            <button type="button" className="button button-danger" onClick={() => blocker.proceed?.()}>
              {t('form.leave')}
            </button>
          </>
        }
      >
        <p className="text-muted">{t('form.unsaved')}</p>
      </Modal>
    </FormProvider>
  );
}

// Returns the definition as YAML, with the short cron_expression instead of schedules where there is one.
function yamlOf(definition: Definition): string {
  const { schedules, cron_expression: cron, ...rest } = definition;
  const when = typeof cron === 'string' ? { cron_expression: cron } : { schedules };
  return stringify({ ...rest, ...when }, { lineWidth: 0 });
}

function readYaml(text: string): Definition | null {
  try {
    const value: unknown = parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return null;
    return normalised(value as Definition);
  } catch {
    return null;
  }
}
