// Converts a job's notification settings between its definition and the form's fields. Pure. A field that is
// left empty is absent and follows the cluster (docs/notify.md); an empty list of events is not the same as
// an absent one.
import { JOB_NOTICE_KINDS, NOTICE_KINDS, type JobNoticeKind, type Notify } from '../../../api/types';

export const TELLS = ['cluster', 'own', 'none'] as const;
const LATE_MOST_S = 604_800;
const ADDRESSES_MOST = 20;
const ADDRESS_LONGEST = 254;
const ADDRESS = /^[!#-'*+./0-9=?A-Z^-~][!#-'*+./0-9=?A-Z^-~-]*@[!#-'*+./0-9=?A-Z^-~-]+$/;

export interface NotifyValues {
  tell: string;
  tell_on: string[];
  late_after_s: string;
  mail_to: string;
}

// Initially all kinds are checked.
export const NOTIFY_DEFAULTS: NotifyValues = {
  tell: 'cluster',
  tell_on: [...JOB_NOTICE_KINDS],
  late_after_s: '',
  mail_to: '',
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textsOf = (value: unknown): string[] | null => (Array.isArray(value) ? value.map(String) : null);
const addressesOf = (text: string) =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

export function notifyValuesOf(notify: unknown): NotifyValues {
  const given = isObject(notify) ? notify : {};
  const on = textsOf(given.on);
  return {
    tell: on === null ? 'cluster' : on.length === 0 ? 'none' : 'own',
    tell_on: on?.length ? on : NOTIFY_DEFAULTS.tell_on,
    late_after_s: typeof given.late_after_s === 'number' ? String(given.late_after_s) : '',
    mail_to: textsOf(given.mail_to)?.join('\n') ?? '',
  };
}

// Returns `base` overridden by the form's values; members that the form does not show stay.
export function notifyFrom(values: NotifyValues, base: unknown): Notify {
  const { on: _on, late_after_s: _late, mail_to: _mail, ...rest } = isObject(base) ? base : {};
  const addresses = addressesOf(values.mail_to);
  return {
    ...rest,
    ...(values.tell === 'own'
      ? { on: values.tell_on as JobNoticeKind[] }
      : values.tell === 'none'
        ? { on: [] }
        : {}),
    ...(values.late_after_s.trim() === '' ? {} : { late_after_s: Number(values.late_after_s) }),
    ...(addresses.length === 0 ? {} : { mail_to: addresses }),
  };
}

// Returns the problem of a field, as a code with its bounds; undefined if it is valid.
export function wrongLate(text: string): string | undefined {
  const late = text.trim();
  if (late === '' || (/^\d+$/.test(late) && +late >= 1 && +late <= LATE_MOST_S)) return undefined;
  return `range:1:${LATE_MOST_S}`;
}

export function wrongMail(text: string): string | undefined {
  if (addressesOf(text).length > ADDRESSES_MOST) return `mail_many:${ADDRESSES_MOST}`;
  const at = text
    .split('\n')
    .findIndex(
      (line) => line.trim() !== '' && (line.trim().length > ADDRESS_LONGEST || !ADDRESS.test(line.trim())),
    );
  return at < 0 ? undefined : `mail:${at + 1}`;
}

const FIELDS: Record<string, keyof NotifyValues> = {
  on: 'tell',
  late_after_s: 'late_after_s',
  mail_to: 'mail_to',
};
export const notifyFieldOf = (member: string | undefined): keyof NotifyValues =>
  FIELDS[member ?? ''] ?? 'tell';

export interface NotificationSettings {
  kinds: string[] | null; // null: the cluster's setting applies, and its value is not known
  own: boolean;
  lateAfterS: number | null;
  channels: string[] | null; // null: not known; "mail" only if there is an address
  mailTo: string[];
}

const listOf = (text: string | undefined) =>
  (text ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

// Events of the cluster, which its setting may name, and which are not about a job.
const OF_CLUSTER = new Set<string>(NOTICE_KINDS);
for (const kind of JOB_NOTICE_KINDS) OF_CLUSTER.delete(kind);

// The resulting notifications, including the cluster's settings if they are known.
export function notificationSettingsOf(
  notify: Notify,
  settings: Record<string, string> | undefined,
): NotificationSettings {
  const known = settings !== undefined && 'notify.on' in settings;
  const late = notify.late_after_s ?? (known ? Number(settings['notify.late_after_s']) : null);
  const mailTo = notify.mail_to ?? (known ? listOf(settings['notify.mail_to']) : []);
  const channels = known
    ? [
        ...(settings['notify.webhook_url'] ? ['webhook'] : []),
        ...(settings['notify.mail_server'] && mailTo.length > 0 ? ['mail'] : []),
      ]
    : null;
  return {
    kinds: notify.on ?? (known ? listOf(settings['notify.on']).filter((one) => !OF_CLUSTER.has(one)) : null),
    own: notify.on !== undefined,
    lateAfterS: late,
    channels,
    mailTo,
  };
}
