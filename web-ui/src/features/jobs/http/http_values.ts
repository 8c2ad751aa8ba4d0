// Converts between the request of a definition and the fields of the form. Pure.
import { parametersOf, parametersText, type Definition } from '../form/definition';

export const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

export const HTTP_DEFAULTS = {
  http_method: 'GET',
  http_url: '',
  http_headers: '',
  http_body: '',
  http_status: '2xx',
  http_contains: '',
  http_regex: '',
  http_json: '',
  http_follow: '0',
  http_connect_timeout: '10',
  http_tls_verify: true,
  http_client_certificate: '',
  http_poll: false,
  http_poll_interval: '10',
  http_poll_url: '',
  http_poll_url_at: '',
  http_poll_until: '',
};
export type HttpValues = typeof HTTP_DEFAULTS;

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const textOf = (value: unknown, otherwise: string) => (typeof value === 'string' ? value : otherwise);
const numberOf = (value: unknown, otherwise: string) =>
  typeof value === 'number' ? String(value) : otherwise;

function pollValuesOf(poll: unknown): Partial<HttpValues> {
  if (!isObject(poll)) return {};
  return {
    http_poll: true,
    http_poll_interval: numberOf(poll.interval, HTTP_DEFAULTS.http_poll_interval),
    http_poll_url: textOf(poll.url, ''),
    http_poll_url_at: textOf(poll.url_at, ''),
    http_poll_until: isObject(poll.until) ? parametersText(poll.until) : '',
  };
}

export function httpValuesOf(http: unknown): Partial<HttpValues> {
  if (!isObject(http)) return {};
  const expect = isObject(http.expect) ? http.expect : {};
  const headers = isObject(http.headers) ? Object.entries(http.headers) : [];
  return {
    http_method: textOf(http.method, HTTP_DEFAULTS.http_method),
    http_url: textOf(http.url, ''),
    http_headers: headers.map(([name, value]) => `${name}: ${String(value)}`).join('\n'),
    http_body: textOf(http.body, ''),
    http_status: Array.isArray(expect.status) ? expect.status.join(', ') : HTTP_DEFAULTS.http_status,
    http_contains: textOf(expect.contains, ''),
    http_regex: textOf(expect.regex, ''),
    http_json: isObject(expect.json) ? parametersText(expect.json) : '',
    http_follow: numberOf(http.follow, HTTP_DEFAULTS.http_follow),
    http_connect_timeout: numberOf(http.connect_timeout, HTTP_DEFAULTS.http_connect_timeout),
    http_tls_verify: http.tls_verify !== false,
    http_client_certificate: textOf(http.client_certificate, ''),
    ...pollValuesOf(http.poll),
  };
}

// Reads "Name: value" lines; null if a line has another form or repeats a name.
export function headersOf(text: string): Record<string, string> | null {
  const headers: Record<string, string> = {};
  const seen = new Set<string>();
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue;
    const at = line.indexOf(':');
    const name = line.slice(0, at).trim();
    if (at < 1 || name === '' || seen.has(name.toLowerCase())) return null;
    seen.add(name.toLowerCase());
    headers[name] = line.slice(at + 1).trim();
  }
  return headers;
}

const STATUS = /^([1-5]xx|[1-5]\d\d(-[1-5]\d\d)?)$/;

// Reads statuses separated by commas or spaces; null if there is none, or one is not valid.
export function statusesOf(text: string): string[] | null {
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  return words.length > 0 && words.every((word) => STATUS.test(word)) ? words : null;
}

const isWhole = (text: string, least: number, most: number) =>
  /^\d+$/.test(text) && +text >= least && +text <= most;

// Reads an object of JSON pointers and lists of values; null if it is none.
export function untilOf(text: string): Record<string, unknown> | null {
  const until = parametersOf(text);
  return until && Object.values(until).every((values) => Array.isArray(values) && values.length > 0)
    ? until
    : null;
}

const isWeb = (text: string) => /^https?:\/\//.test(text.trim());

// The fields that are not valid, each with the code of its error.
export function wrongInHttp(values: HttpValues): [keyof HttpValues, string][] {
  const checks: [keyof HttpValues, boolean, string][] = [
    ['http_url', values.http_url.trim() !== '', 'required'],
    ['http_url', values.http_url.trim() === '' || isWeb(values.http_url), 'http_url'],
    ['http_headers', headersOf(values.http_headers) !== null, 'http_headers'],
    ['http_status', statusesOf(values.http_status) !== null, 'http_status'],
    ['http_json', parametersOf(values.http_json) !== null, 'json'],
    ['http_follow', isWhole(values.http_follow, 0, 5), 'range:0:5'],
    ['http_connect_timeout', isWhole(values.http_connect_timeout, 1, 60), 'range:1:60'],
  ];
  if (values.http_poll) {
    const { http_poll_url, http_poll_url_at } = values;
    checks.push(
      ['http_poll_interval', isWhole(values.http_poll_interval, 1, 3600), 'range:1:3600'],
      ['http_poll_url', http_poll_url.trim() === '' || isWeb(http_poll_url), 'http_url'],
      ['http_poll_url_at', /^(\/|$)/.test(http_poll_url_at.trim()), 'pointer'],
      ['http_poll_until', untilOf(values.http_poll_until) !== null, 'http_until'],
    );
  }
  return checks.filter(([, right]) => !right).map(([field, , code]) => [field, code]);
}

// A text area shows every line break as \n.
const shown = (text: string) => text.replace(/\r\n?/g, '\n');

// `kept`: the request before, whose body stays as it is if the field shows it.
export function httpFrom(values: HttpValues, kept: unknown): Definition {
  const before = isObject(kept) ? kept.body : undefined;
  const same = typeof before === 'string' && shown(before) === shown(values.http_body);
  return {
    method: values.http_method,
    url: values.http_url.trim(),
    headers: headersOf(values.http_headers) ?? {},
    body: same ? before : values.http_body,
    expect: {
      status: statusesOf(values.http_status) ?? [],
      contains: values.http_contains,
      regex: values.http_regex,
      json: parametersOf(values.http_json) ?? {},
    },
    follow: Number(values.http_follow),
    connect_timeout: Number(values.http_connect_timeout),
    tls_verify: values.http_tls_verify,
    ...(values.http_client_certificate.trim() !== '' && {
      client_certificate: values.http_client_certificate.trim(),
    }),
    ...(values.http_poll && {
      poll: {
        url: values.http_poll_url.trim(),
        url_at: values.http_poll_url_at.trim(),
        interval: Number(values.http_poll_interval),
        until: untilOf(values.http_poll_until) ?? {},
      },
    }),
  };
}

// The field that shows the server's error at /http/`part`/`inner`.
export function httpFieldOf(part: string | undefined, inner: string | undefined): keyof HttpValues {
  const name = part === 'expect' ? (inner ?? 'status') : part;
  const field = name === 'poll' && inner ? `http_poll_${inner}` : `http_${name ?? 'url'}`;
  return field in HTTP_DEFAULTS ? (field as keyof HttpValues) : 'http_url';
}
