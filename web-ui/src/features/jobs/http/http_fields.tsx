// Fields of the job form for a request: what is sent, and which responses count as success.
import '../form/texts.en';
import { useFormContext } from 'react-hook-form';
import { useTranslation } from '../../../i18n/use_translation';
import { Choose, Text } from '../form/form_fields';
import type { FormValues } from '../form/form_schema';
import { METHODS } from './http_values';

// Words of HTTP.
const URL_EXAMPLE = 'https://billing.example/days/{{params.day}}/close';
const HEADERS_EXAMPLE = 'Authorization: Bearer {{secrets.TOKEN}}';
const JSON_EXAMPLE = '{"/status": "ok"}';
const STATUS_EXAMPLE = '2xx, 404, 200-204';
const CERTIFICATE_EXAMPLE = '{{secrets.CLIENT_PEM}}';
const UNTIL_EXAMPLE = '{"/state": ["succeeded", "failed"]}';

function PollFields() {
  const { t } = useTranslation();
  return (
    <>
      <Text
        name="http_poll_url"
        label={t('form.http_poll_url')}
        mono
        hint={t('form.http_poll_url_hint')}
        className="sm:col-span-2"
      />
      <Text
        name="http_poll_url_at"
        label={t('form.http_poll_url_at')}
        mono
        hint={t('form.http_poll_url_at_hint')}
      />
      <Text name="http_poll_interval" label={t('form.http_poll_interval')} numeric />
      <Text
        name="http_poll_until"
        label={t('form.http_poll_until')}
        mono
        rows={2}
        placeholder={UNTIL_EXAMPLE}
        hint={t('form.http_poll_until_hint')}
      />
    </>
  );
}

export function HttpFields() {
  const { t } = useTranslation();
  const { register, watch } = useFormContext<FormValues>();
  const polls = watch('http_poll');
  return (
    <>
      <Choose name="http_method" label={t('form.http_method')} values={METHODS} />
      <Text
        name="http_url"
        label={t('form.http_url')}
        mono
        placeholder={URL_EXAMPLE}
        hint={t('form.http_url_hint')}
        className="sm:col-span-2"
      />
      <Text
        name="http_headers"
        label={t('form.http_headers')}
        mono
        rows={3}
        placeholder={HEADERS_EXAMPLE}
        hint={t('form.http_headers_hint')}
      />
      <Text name="http_body" label={t('form.http_body')} mono rows={3} hint={t('form.http_body_hint')} />
      <Text name="http_status" label={t('form.http_status')} mono placeholder={STATUS_EXAMPLE} />
      <Text name="http_contains" label={t('form.http_contains')} mono />
      <Text name="http_regex" label={t('form.http_regex')} mono hint={t('form.http_regex_hint')} />
      <Text
        name="http_json"
        label={t('form.http_json')}
        mono
        rows={2}
        placeholder={JSON_EXAMPLE}
        hint={t('form.http_json_hint')}
      />
      <Text name="http_follow" label={t('form.http_follow')} numeric />
      <Text name="http_connect_timeout" label={t('form.http_connect_timeout')} numeric />
      <label className="flex items-center gap-2 self-center">
        <input type="checkbox" className="size-4 accent-accent" {...register('http_tls_verify')} />
        {t('form.http_tls_verify')}
      </label>
      <Text
        name="http_client_certificate"
        label={t('form.http_client_certificate')}
        mono
        placeholder={CERTIFICATE_EXAMPLE}
        hint={t('form.http_client_certificate_hint')}
      />
      <label className="flex items-center gap-2 self-center">
        <input type="checkbox" className="size-4 accent-accent" {...register('http_poll')} />
        {t('form.http_poll')}
      </label>
      {polls && <PollFields />}
    </>
  );
}
