// Card of all settings in force. Live settings can be edited here.
import '../executors/texts.en';
import './texts.en';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useId, useState, type FormEvent } from 'react';
import { ApiError, call } from '../../api/client';
import { useConfig } from '../../api/queries';
import type { SystemConfig } from '../../api/types';
import { useMay } from '../../auth/session';
import { useTextOr } from '../../i18n/text_or';
import { useTranslation } from '../../i18n/use_translation';
import { toast } from '../../ui/toasts';
import { Modal } from '../../ui/dialogs/modal';
import { Card, LoadFailure, Loading, TableFrame, explain } from '../../ui/ui';

export function SettingsCard() {
  const { t } = useTranslation();
  const config = useConfig();
  return (
    <Card title={t('settings.live')} className="lg:col-span-2" flush>
      {config.isPending ? (
        <Loading />
      ) : !config.data ? (
        <LoadFailure error={config.error} onRetry={() => void config.refetch()} />
      ) : (
        <Settings config={config.data.data} />
      )}
    </Card>
  );
}

function Settings({ config }: { config: SystemConfig }) {
  const { t } = useTranslation();
  const may = useMay('config:write');
  const [editing, setEditing] = useState<string | null>(null);
  const fixed = Object.keys(config.settings)
    .filter((name) => !config.live.includes(name))
    .toSorted();
  return (
    <>
      <p className="px-4 pt-4 text-muted">{t('settings.live_explain', { version: config.version })}</p>
      <SettingTable names={config.live.toSorted()} config={config} onEdit={setEditing} may={may} />
      <details className="border-t">
        <summary className="px-4 py-3 text-accent">{t('settings.fixed', { n: fixed.length })}</summary>
        <SettingTable names={fixed} config={config} may={may} />
      </details>
      {editing && (
        <EditDialog key={editing} name={editing} config={config} onClose={() => setEditing(null)} />
      )}
    </>
  );
}

function SettingTable(props: {
  names: string[];
  config: SystemConfig;
  may: boolean;
  onEdit?: (name: string) => void;
}) {
  const { t } = useTranslation();
  const textOr = useTextOr();
  return (
    <TableFrame label={props.onEdit ? t('settings.live') : t('settings.fixed', { n: props.names.length })}>
      <table className="table">
        <thead>
          <tr>
            <th scope="col">{t('settings.name')}</th>
            <th scope="col">{t('settings.value')}</th>
            <th scope="col">{t('settings.source')}</th>
            {props.onEdit && (
              <th scope="col">
                <span className="sr-only">{t('actions')}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {props.names.map((name) => (
            <tr key={name}>
              <th scope="row" className="mono">
                {name}
              </th>
              <td className="mono break-all">{props.config.settings[name] || '–'}</td>
              <td className="text-muted">{textOr('source.', props.config.sources[name])}</td>
              {props.onEdit && (
                <td className="text-right">
                  <button
                    type="button"
                    className="button"
                    disabled={!props.may}
                    title={props.may ? undefined : t('denied.admin')}
                    aria-label={t('settings.change_named', { name })}
                    onClick={() => props.onEdit!(name)}
                  >
                    {t('settings.change')}
                  </button>
                </td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </TableFrame>
  );
}

function EditDialog({ name, config, onClose }: { name: string; config: SystemConfig; onClose: () => void }) {
  const { t } = useTranslation();
  const client = useQueryClient();
  const id = useId();
  const [value, setValue] = useState(config.settings[name] ?? '');
  const [reason, setReason] = useState('');
  const save = useMutation({
    mutationFn: (next: string | null) =>
      call<SystemConfig>('PUT', 'system/config', {
        body: { settings: { [name]: next }, ...(reason.trim() ? { reason: reason.trim() } : {}) },
        ifMatch: `"v${config.version}"`,
      }),
    onSuccess: (answer) => {
      client.setQueryData(['system', 'config'], answer);
      toast(t('settings.changed', { name }));
      onClose();
    },
    onError: (error) => {
      if (error instanceof ApiError && error.code === 'stale_version')
        void client.invalidateQueries({ queryKey: ['system', 'config'] });
    },
  });
  const stale = save.error instanceof ApiError && save.error.code === 'stale_version';
  const wrong = save.error instanceof ApiError ? save.error.errors[0]?.detail : undefined;
  const error = save.isError ? (stale ? t('settings.stale') : (wrong ?? explain(save.error, t))) : '';
  return (
    <Modal
      open
      onClose={onClose}
      title={t('settings.change_named', { name })}
      actions={
        <>
          {config.sources[name] === 'live' && (
            <button
              type="button"
              className="button mr-auto"
              disabled={save.isPending}
              onClick={() => save.mutate(null)}
            >
              {t('settings.take_back')}
            </button>
          )}
          <button type="button" className="button" onClick={onClose}>
            {t('cancel')}
          </button>
          <button
            type="submit"
            form={id + '-form'}
            className="button button-primary"
            disabled={save.isPending}
          >
            {t('form.save')}
          </button>
        </>
      }
    >
      <form
        id={id + '-form'}
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          save.mutate(value.trim());
        }}
      >
        <label htmlFor={id} className="mb-1 block font-medium">
          {t('settings.value')}
        </label>
        <input
          id={id}
          className="input mono"
          value={value}
          aria-invalid={error ? true : undefined}
          aria-describedby={id + '-error'}
          spellCheck={false}
          onChange={(event) => setValue(event.target.value)}
        />
        <p id={id + '-error'} role={error ? 'alert' : undefined} className="mb-3 text-bad">
          {error}
        </p>
        <label htmlFor={id + '-reason'} className="mb-1 block font-medium">
          {t('reason.label')}
        </label>
        <input
          id={id + '-reason'}
          className="input"
          maxLength={1000}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
        />
      </form>
    </Modal>
  );
}
