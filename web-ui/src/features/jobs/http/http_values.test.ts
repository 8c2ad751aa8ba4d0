// The request of a job in the fields of the form.
import { describe, expect, it } from 'vitest';
import { definitionFrom, fieldOf, valuesOf } from '../form/form_values';
import { DEFAULTS, formSchema } from '../form/form_schema';
import { headersOf, statusesOf } from './http_values';

const http = {
  method: 'POST',
  url: 'https://billing.example/{{params.day}}',
  headers: { 'X-Team': 'billing', Authorization: 'Bearer {{secrets.TOKEN}}' },
  body: '{"a":\r\n1}',
  expect: { status: ['2xx', '404'], contains: 'ok', regex: 'a+', json: { '/status': 'ok', '/n': 3 } },
  follow: 2,
  connect_timeout: 5,
  tls_verify: false,
};
const job = { name: 'Close', type: 'http', http };

describe('a request', () => {
  it('the form returns an HTTP request unchanged', () => {
    const values = valuesOf(job);
    expect(values.http_headers).toBe('X-Team: billing\nAuthorization: Bearer {{secrets.TOKEN}}');
    expect(values.http_status).toBe('2xx, 404');
    const saved = definitionFrom(values, job);
    expect(saved.http).toEqual(http);
    expect(saved.env).toEqual({});
    expect(saved.command).toBeUndefined();
  });

  it('the form returns a poll and a certificate unchanged', () => {
    const poll = {
      url: 'https://billing.example/jobs/',
      url_at: '/id',
      interval: 5,
      until: { '/state': ['done', null, 3] },
    };
    const polled = { ...job, http: { ...http, client_certificate: '{{secrets.PEM}}', poll } };
    expect(definitionFrom(valuesOf(polled), polled).http).toEqual(polled.http);
    const values = { ...valuesOf(polled), http_poll: false, http_client_certificate: '' };
    expect(definitionFrom(values, polled).http).toEqual(http);
  });

  it('the form keeps the line ends of a body unless it is edited', () => {
    const values = { ...valuesOf(job), http_body: '{"a":\n1}' };
    expect(definitionFrom(values, job).http).toMatchObject({ body: http.body });
    expect(definitionFrom({ ...values, http_body: '{"a":\n2}' }, job).http).toMatchObject({
      body: '{"a":\n2}',
    });
  });

  it('the form validates an HTTP request only for this type', () => {
    const values = { ...DEFAULTS, name: 'Close', type: 'http', cron_expression: '@daily' };
    const wrongAt = (changes: object) => {
      const read = formSchema.safeParse({ ...values, ...changes });
      return read.success ? [] : read.error.issues.map((one) => one.path.join('.'));
    };
    expect(wrongAt({})).toEqual(['http_url']);
    expect(wrongAt({ http_url: 'ftp://a' })).toEqual(['http_url']);
    const http_url = 'http://a';
    expect(wrongAt({ http_url })).toEqual([]);
    expect(wrongAt({ http_url, http_headers: 'a' })).toEqual(['http_headers']);
    expect(wrongAt({ http_url, http_status: '' })).toEqual(['http_status']);
    expect(wrongAt({ http_url, http_json: '[1]' })).toEqual(['http_json']);
    expect(wrongAt({ http_url, http_follow: '6', http_connect_timeout: '0' })).toEqual([
      'http_follow',
      'http_connect_timeout',
    ]);
    const poll = { http_url, http_poll: true };
    expect(wrongAt(poll)).toEqual([]);
    expect(wrongAt({ ...poll, http_poll_interval: '0' })).toEqual(['http_poll_interval']);
    expect(wrongAt({ ...poll, http_poll_url: '/a' })).toEqual(['http_poll_url']);
    expect(wrongAt({ ...poll, http_poll_url_at: 'id' })).toEqual(['http_poll_url_at']);
    expect(wrongAt({ ...poll, http_poll_until: '{"/a": 3}' })).toEqual(['http_poll_until']);
    expect(wrongAt({ http_url, http_poll_until: 'x' })).toEqual([]);
    expect(wrongAt({ type: 'shell', command: 'true', http_status: '' })).toEqual([]);
  });

  it('pointers of the server lead to the HTTP fields', () => {
    expect(fieldOf('/http/url')).toBe('http_url');
    expect(fieldOf('/http/headers/X-A')).toBe('http_headers');
    expect(fieldOf('/http/expect/json/~1a')).toBe('http_json');
    expect(fieldOf('/http/expect/status/1')).toBe('http_status');
    expect(fieldOf('/http/expect')).toBe('http_status');
    expect(fieldOf('/http/connect_timeout')).toBe('http_connect_timeout');
    expect(fieldOf('/http/poll/until/~1a')).toBe('http_poll_until');
    expect(fieldOf('/http/poll')).toBe('http_poll');
    expect(fieldOf('/http/client_certificate')).toBe('http_client_certificate');
    expect(fieldOf('/http')).toBe('http_url');
  });
});

describe('HTTP texts', () => {
  it('headers are read by line, statuses by word', () => {
    expect(headersOf('A: b: c\n\n X-Empty:\n')).toEqual({ A: 'b: c', 'X-Empty': '' });
    for (const wrong of ['A', ': b', 'A: 1\na: 2']) expect(headersOf(wrong)).toBeNull();
    expect(statusesOf('2xx 404, 200-204')).toEqual(['2xx', '404', '200-204']);
    for (const wrong of ['', '6xx', '99', '200-', '2XX']) expect(statusesOf(wrong)).toBeNull();
  });
});
