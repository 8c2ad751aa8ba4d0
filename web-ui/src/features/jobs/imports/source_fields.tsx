// Fields of an import: the text or the files of the other scheduler, its time zone, and a prefix of ids.
import './texts.en';
import { useState } from 'react';
import { useNamespaces } from '../../../api/queries';
import type { FieldError } from '../../../api/types';
import { useTranslation } from '../../../i18n/use_translation';
import { bytes } from '../../../lib/format';
import { usePreferences } from '../../../lib/preferences';
import { Field } from '../../../ui/field';
import { toastError } from '../../../ui/toasts';
import { explain } from '../../../ui/ui';
import { ZoneOptions } from '../../../ui/zone_options';
import { ACCEPTED, COMMANDS, takesSeveral, type Kind } from './kinds';
import { BODY_BYTES_MAX, readFile, type SourceFile } from './sources';

export interface SourceValues {
  text: string;
  files: SourceFile[]; // used instead of the text
  zone: string;
  namespace: string;
  prefix: string;
  system: boolean; // of a crontab
}

export function SourceFields(props: {
  kind: Kind;
  values: SourceValues;
  tooBig: boolean;
  errors: readonly FieldError[];
  onChange: (values: SourceValues) => void;
}) {
  const { kind, values, onChange } = props;
  const { t } = useTranslation();
  const { language } = usePreferences();
  const namespaces = useNamespaces();
  const [round, setRound] = useState(0); // a new one empties the field of files
  const errorOf = (pointer: string) => props.errors.find((one) => one.pointer === pointer)?.detail;
  const choose = async (list: FileList | null) => {
    try {
      const files = await Promise.all([...(list ?? [])].map((file) => readFile(kind, file)));
      onChange({ ...values, files });
    } catch (error) {
      toastError(t('imports.unreadable'), explain(error, t));
    }
  };
  const problem = props.tooBig
    ? t('imports.too_big', {
        size: bytes(BODY_BYTES_MAX, language),
        command: `carillon import ${kind}`,
      })
    : errorOf('/text');
  return (
    <>
      <p className="text-muted">
        {t('imports.command')} <code className="mono rounded bg-code px-1.5 py-0.5">{COMMANDS[kind]}</code>
      </p>
      <Field
        label={t(takesSeveral(kind) ? 'imports.files' : 'imports.file')}
        error={values.files.length > 0 ? problem : undefined}
      >
        <input
          key={round}
          type="file"
          className="input"
          multiple={takesSeveral(kind)}
          accept={ACCEPTED[kind]}
          onChange={(event) => void choose(event.target.files)}
        />
      </Field>
      {values.files.length > 0 ? (
        <button
          type="button"
          className="button justify-self-start"
          onClick={() => {
            setRound(round + 1);
            onChange({ ...values, files: [] });
          }}
        >
          {t('imports.paste')}
        </button>
      ) : (
        <Field label={t('imports.text')} error={problem}>
          <textarea
            className="input mono min-h-[20dvh]"
            spellCheck={false}
            value={values.text}
            onChange={(event) => onChange({ ...values, text: event.target.value })}
          />
        </Field>
      )}
      {kind === 'crontab' && (
        <label className="flex items-center gap-2">
          <input
            type="checkbox"
            className="size-4 accent-accent"
            checked={values.system}
            onChange={(event) => onChange({ ...values, system: event.target.checked })}
          />
          {t('imports.system')}
        </label>
      )}
      <Field
        label={t('imports.zone')}
        error={errorOf('/time_zone')}
        hint={t('imports.zone_hint')}
        className="sm:max-w-sm"
      >
        <input
          className="input"
          list="imports-zones"
          required
          autoComplete="off"
          spellCheck={false}
          value={values.zone}
          onChange={(event) => onChange({ ...values, zone: event.target.value })}
        />
      </Field>
      <ZoneOptions id="imports-zones" />
      <Field label={t('jobs.namespace')} hint={t('imports.namespace_hint')} className="sm:max-w-sm">
        <input
          className="input"
          list="imports-namespaces"
          autoComplete="off"
          spellCheck={false}
          maxLength={63}
          pattern="[a-z0-9]([a-z0-9\-]*[a-z0-9])?"
          title={t('imports.namespace_hint')}
          placeholder="default"
          value={values.namespace}
          onChange={(event) => onChange({ ...values, namespace: event.target.value })}
        />
      </Field>
      <datalist id="imports-namespaces">
        {namespaces.map((one) => (
          <option key={one} value={one}>
            {one}
          </option>
        ))}
      </datalist>
      <Field
        label={t('imports.prefix')}
        error={errorOf('/prefix')}
        hint={t('imports.prefix_hint')}
        className="sm:max-w-sm"
      >
        <input
          className="input mono"
          autoComplete="off"
          spellCheck={false}
          maxLength={40}
          value={values.prefix}
          onChange={(event) => onChange({ ...values, prefix: event.target.value })}
        />
      </Field>
    </>
  );
}
