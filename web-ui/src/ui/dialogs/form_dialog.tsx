// A dialog around a form. An error of the server is shown at its field, or above the buttons if it belongs to
// no field.
import { useId, useState, type FormEvent, type ReactNode } from 'react';
import { ApiError } from '../../api/client';
import type { Problem } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { Modal } from './modal';
import { explain } from '../ui';

export interface Submission {
  errorOf: (pointer: string) => string | undefined;
}

// Throws if a field has a mistake that the form finds itself. The dialog shows it like an error of the server.
// `found`: by JSON pointer, the text of the mistake.
export function throwMistakes(found: Record<string, string | undefined>): void {
  const errors = Object.entries(found).flatMap(([pointer, detail]) =>
    detail === undefined ? [] : [{ pointer, code: 'mistake', detail }],
  );
  if (errors.length > 0) throw new ApiError(400, 'mistake', errors[0]!.detail, { errors } as Problem);
}

export function FormDialog(props: {
  title: string;
  save: string;
  danger?: boolean;
  pointers: readonly string[]; // JSON pointers of errors that a field of this form shows
  finalFocus?: () => HTMLElement | null;
  onClose: () => void;
  onSave: () => Promise<void>;
  children: (submission: Submission) => ReactNode;
}) {
  const { t } = useTranslation();
  const id = useId();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const fields = error instanceof ApiError ? error.errors : [];
  const known = fields.filter((one) => props.pointers.includes(one.pointer));
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await props.onSave();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      open
      onClose={props.onClose}
      finalFocus={props.finalFocus}
      title={props.title}
      actions={
        <>
          <button type="button" className="button" onClick={props.onClose}>
            {t('cancel')}
          </button>
          <button
            type="submit"
            form={id}
            disabled={busy}
            className={'button ' + (props.danger ? 'button-danger' : 'button-primary')}
          >
            {props.save}
          </button>
        </>
      }
    >
      <form id={id} noValidate className="grid gap-3" onSubmit={(event) => void submit(event)}>
        {props.children({ errorOf: (pointer) => known.find((one) => one.pointer === pointer)?.detail })}
        {error !== null && known.length === 0 && (
          <p role="alert" className="rounded-md bg-bad-soft px-3 py-2 text-bad">
            {fields[0]?.detail ?? explain(error, t)}
          </p>
        )}
      </form>
    </Modal>
  );
}
