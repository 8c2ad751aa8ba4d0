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
import { groupPath, limitOf } from './group_values';

interface Props {
  onClose: () => void;
  onDone: () => void;
}
type OfGroup = Props & { group: Pick<Group, 'name' | 'limit'> };

function LimitField(props: {
  value: string;
  error: string | undefined;
  hint: string;
  onChange: (value: string) => void;
}) {
  const { t } = useTranslation();
  return (
    <Field label={t('groups.limit')} error={props.error} hint={props.hint}>
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

export function CreateGroupDialog({ taken, onClose, onDone }: Props & { taken: readonly string[] }) {
  const { t } = useTranslation();
  const [name, setName] = useState('');
  const [limit, setLimit] = useState('1');
  const group = name.trim();
  // The server would change the limit of a group that exists.
  const wrongName = !isName(group)
    ? t('groups.name_wrong')
    : taken.includes(group)
      ? t('groups.taken')
      : undefined;
  const wrongLimit = limitOf(limit) === null ? t('groups.limit_wrong') : undefined;
  return (
    <FormDialog
      title={t('groups.new')}
      save={t('groups.create')}
      onClose={onClose}
      pointers={['/name', '/limit']}
      onSave={async () => {
        throwMistakes({ '/name': wrongName, '/limit': wrongLimit });
        await call<Group>('PUT', groupPath(group), { body: { limit: limitOf(limit) } });
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
          <LimitField
            value={limit}
            error={errorOf('/limit')}
            hint={t('groups.limit_hint')}
            onChange={setLimit}
          />
        </>
      )}
    </FormDialog>
  );
}

export function SetLimitDialog({ group, onClose, onDone }: OfGroup) {
  const { t } = useTranslation();
  const [limit, setLimit] = useState(String(group.limit));
  const wrong = limitOf(limit) === null ? t('groups.limit_wrong') : undefined;
  return (
    <FormDialog
      title={t('groups.set_limit_of', { name: group.name })}
      save={t('form.save')}
      onClose={onClose}
      pointers={['/limit']}
      onSave={async () => {
        throwMistakes({ '/limit': wrong });
        await call<Group>('PUT', groupPath(group.name), { body: { limit: limitOf(limit) } });
        toast(t('groups.saved', { name: group.name }));
        onDone();
      }}
    >
      {({ errorOf }) => (
        <>
          <LimitField
            value={limit}
            error={errorOf('/limit')}
            hint={t('groups.limit_hint')}
            onChange={setLimit}
          />
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
