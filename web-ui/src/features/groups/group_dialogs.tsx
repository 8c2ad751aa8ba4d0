// Dialogs that create a group, change its limit and delete it.
import './texts.en';
import { useState } from 'react';
import { call } from '../../api/client';
import type { Group } from '../../api/types';
import { useTranslation } from '../../i18n/use_translation';
import { isName } from '../../lib/names';
import { FormDialog, throwMistakes } from '../../ui/dialogs/form_dialog';
import { Field } from '../../ui/field';
import { toast } from '../../ui/toasts';
import { bodyOf, groupPath, limitOf, perOf } from './group_values';

interface Props {
  onClose: () => void;
  onDone: () => void;
}
type OfGroup = Props & { group: Pick<Group, 'name' | 'limit' | 'per_s'> };

function NumberField(props: {
  label: string;
  value: string;
  error: string | undefined;
  hint: string;
  onChange: (value: string) => void;
}) {
  return (
    <Field label={props.label} error={props.error} hint={props.hint}>
      <input
        className="input"
        inputMode="numeric"
        autoComplete="off"
        value={props.value}
        onChange={(event) => props.onChange(event.target.value)}
      />
    </Field>
  );
}

// The limit of the group, and the time after which a slot is given again.
function Numbers(props: {
  limit: string;
  per: string;
  errorOf: (pointer: string) => string | undefined;
  onLimit: (value: string) => void;
  onPer: (value: string) => void;
}) {
  const { t } = useTranslation();
  return (
    <>
      <NumberField
        label={t('groups.limit')}
        value={props.limit}
        error={props.errorOf('/limit')}
        hint={t('groups.limit_hint')}
        onChange={props.onLimit}
      />
      <NumberField
        label={t('groups.per')}
        value={props.per}
        error={props.errorOf('/per_s')}
        hint={t('groups.per_hint')}
        onChange={props.onPer}
      />
    </>
  );
}

export function CreateGroupDialog({ taken, onClose, onDone }: Props & { taken: readonly string[] }) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const [limit, setLimit] = useState('1');
  const [per, setPer] = useState('0');
  const group = name.trim();
  // The server would change the limit of a group that exists.
  const wrongName = !isName(group)
    ? t('groups.name_wrong')
    : taken.includes(group)
      ? t('groups.taken')
      : undefined;
  const wrongLimit = limitOf(limit) === null ? t('groups.limit_wrong') : undefined;
  const wrongPer = perOf(per) === null ? t('groups.per_wrong') : undefined;
  return (
    <FormDialog
      title={t('groups.new')}
      save={t('groups.create')}
      onClose={onClose}
      pointers={['/name', '/limit', '/per_s']}
      onSave={async () => {
        throwMistakes({ '/name': wrongName, '/limit': wrongLimit, '/per_s': wrongPer });
        await call<Group>('PUT', groupPath(group), { body: bodyOf(limit, per) });
        toast(t('groups.created', { name: group }));
        onDone();
      }}
    >
      {({ errorOf }) => (
        <>
          <Field label={t('auth.name')} error={errorOf('/name')} hint={t('groups.name_hint')}>
            <input
              className="input mono"
              autoComplete="off"
              autoCapitalize="off"
              spellCheck={false}
              value={name}
              onChange={(event) => setName(event.target.value)}
            />
          </Field>
          <Numbers limit={limit} per={per} errorOf={errorOf} onLimit={setLimit} onPer={setPer} />
        </>
      )}
    </FormDialog>
  );
}

export function SetLimitDialog({ group, onClose, onDone }: OfGroup) {
  const { t } = useTranslation();
  const [limit, setLimit] = useState(String(group.limit));
  const before = group.per_s ?? 0; // undefined: an older server
  const [per, setPer] = useState(String(before));
  const wrong = limitOf(limit) === null ? t('groups.limit_wrong') : undefined;
  const wrongPer = perOf(per) === null ? t('groups.per_wrong') : undefined;
  return (
    <FormDialog
      title={t('groups.set_limit_of', { name: group.name })}
      save={t('form.save')}
      onClose={onClose}
      pointers={['/limit', '/per_s']}
      onSave={async () => {
        throwMistakes({ '/limit': wrong, '/per_s': wrongPer });
        await call<Group>('PUT', groupPath(group.name), { body: bodyOf(limit, per, before) });
        toast(t('groups.saved', { name: group.name }));
        onDone();
      }}
    >
      {({ errorOf }) => (
        <>
          <Numbers limit={limit} per={per} errorOf={errorOf} onLimit={setLimit} onPer={setPer} />
          <p className="text-muted">{t('groups.lower_hint')}</p>
        </>
      )}
    </FormDialog>
  );
}

export function DeleteGroupDialog({ group, onClose, onDone }: OfGroup) {
  const { t } = useTranslation();
  return (
    <FormDialog
      title={t('groups.delete_title', { name: group.name })}
      save={t('jobs.delete')}
      danger
      onClose={onClose}
      pointers={[]}
      onSave={async () => {
        await call<void>('DELETE', groupPath(group.name));
        toast(t('groups.deleted', { name: group.name }));
        onDone();
      }}
    >
      {() => <p className="text-muted">{t('groups.delete_explain')}</p>}
    </FormDialog>
  );
}
