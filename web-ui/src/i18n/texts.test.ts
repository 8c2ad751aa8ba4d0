import { readFileSync, readdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import { enProblems } from './problems/en';
import { zhCNProblems } from './problems/zh_cn';

type Texts = Record<string, string>;
const english = import.meta.glob<Texts>('../**/texts.en.ts', { eager: true, import: 'en' });
const chinese = import.meta.glob<Texts>('../**/texts.zh_cn.ts', { eager: true, import: 'zhCN' });
const en: Texts = Object.assign({}, ...Object.values(english), enProblems);
const zhCN: Texts = Object.assign({}, ...Object.values(chinese), zhCNProblems);
// `queue_one` is a value of overlap_policy.
const isSingular = (key: string) => key.endsWith('_one') && !key.endsWith('.queue_one');
const plurals = Object.keys(en).filter((key) => !isSingular(key));
const CJK = /[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]/;
const placeholders = (text: string) =>
  [...text.matchAll(/\{\{(\w+)\}\}/g)].map((match) => match[1]!).toSorted();

function sources(): { path: string; text: string }[] {
  return readdirSync('src', { recursive: true, encoding: 'utf8' })
    .filter((path) => /(?<!\.test)\.tsx?$/.test(path))
    .map((path) => ({ path, text: readFileSync(join('src', path), 'utf8') }));
}

describe('the catalogues', () => {
  it('the catalogues have the same keys, except for English singulars', () => {
    expect(Object.keys(zhCN).toSorted()).toEqual(plurals.toSorted());
  });

  it('singulars have the placeholders of their plurals, except the number', () => {
    const singulars = Object.entries(en).filter(([key]) => isSingular(key));
    expect(singulars.length).toBeGreaterThan(0);
    for (const [key, text] of singulars) {
      const many: string | undefined = en[key.slice(0, -'_one'.length)];
      expect(many, key).toBeDefined();
      expect(placeholders(text), key).toEqual(
        placeholders(many!).filter((name) => name !== 'n' && name !== 'count'),
      );
    }
  });

  it('texts are not empty and have equal placeholders', () => {
    for (const key of plurals) {
      expect(en[key]!.trim(), key).not.toBe('');
      expect(zhCN[key]!.trim(), key).not.toBe('');
      expect(placeholders(zhCN[key]!), key).toEqual(placeholders(en[key]!));
    }
  });

  it('English texts contain no Chinese', () => {
    for (const [key, text] of Object.entries(en)) expect(CJK.test(text), key).toBe(false);
  });

  it('every key in the code exists', () => {
    const missing: string[] = [];
    for (const { path, text } of sources()) {
      for (const [, key] of text.matchAll(/\bt\('([^']+)'/g))
        if (key !== undefined && !(key in en)) missing.push(`${path}: ${key}`);
    }
    expect(missing).toEqual([]);
  });

  it('each text is in one file', () => {
    const all = Object.values(english).flatMap((texts) => Object.keys(texts));
    expect(all.length).toBe(new Set(all).size);
  });

  it('each file imports the texts that it uses', () => {
    const missing: string[] = [];
    for (const [file, texts] of Object.entries(english)) {
      const room = dirname(file).replace('../', '');
      for (const { path, text } of sources().filter(
        (one) => !/^i18n|texts\./.test(one.path) && room !== '.',
      )) {
        const says = [...text.matchAll(/'([a-z_]+(?:\.[A-Za-z0-9_-]+)+)'/g)].some(
          ([, key]) => key !== undefined && key in texts,
        );
        const from = relative(dirname(path), room) || '.';
        if (says && !text.includes(`'${from.startsWith('.') ? from : './' + from}/texts.en'`))
          missing.push(`${path}: ${room}`);
      }
    }
    expect(missing).toEqual([]);
  });

  it('components contain no literal texts', () => {
    const found: string[] = [];
    for (const { path, text } of sources().filter((one) => one.path.endsWith('.tsx'))) {
      for (const [, words] of text.matchAll(/<[a-zA-Z][^<>{}]*>\s*([A-Za-z][a-z]+[^<>{}]*)<\//g)) {
        if (words!.trim() !== 'Carillon' && !/^Ctrl K$/.test(words!.trim())) found.push(`${path}: ${words}`);
      }
      for (const [, words] of text.matchAll(
        /(?:aria-label|title|placeholder|label)="([A-Za-z][^"]* [^"]*)"/g,
      )) {
        if (!/[=!]/.test(words!)) found.push(`${path}: ${words}`);
      }
      if (CJK.test(text)) found.push(`${path}: Chinese`);
    }
    expect(found).toEqual([]);
  });
});

const codesIn = (text: string) => [...text.matchAll(/`([a-z_]+)`/g)].map((match) => match[1]!);
const spoken = (kind: string) =>
  Object.keys(enProblems)
    .filter((key) => key.startsWith(kind + '.'))
    .map((key) => key.slice(kind.length + 1));
const sorted = (codes: string[]) => [...new Set(codes)].toSorted();

describe('problem texts', () => {
  const api = readFileSync('../docs/api.md', 'utf8').split('## All codes')[1]!;
  const errors = readFileSync('../docs/errors.md', 'utf8');
  const rows = (text: string) =>
    text.split('\n').filter((line) => line.startsWith('|') && !line.startsWith('| status'));

  it('every problem code of the server has a sentence', () => {
    const listed = rows(errors).flatMap((line) => codesIn(line.split('|')[1]!));
    const answered = rows(api).flatMap((line) =>
      codesIn(
        line
          .split('|')[2]!
          .replace(/\(with[^)]*\)/g, '')
          .replace(/;.*/, ''),
      ),
    );
    const codes = sorted([...listed, ...answered]);
    expect(codes.length).toBeGreaterThan(45);
    expect(codes.filter((code) => !spoken('problem').includes(code))).toEqual([]);
  });

  it('every field code of the server has a sentence', () => {
    const codes = sorted(
      codesIn(api.slice(api.indexOf('Codes of single'))).filter((code) => code !== 'errors'),
    );
    expect(codes.length).toBeGreaterThan(30);
    expect(codes.filter((code) => !spoken('field').includes(code))).toEqual([]);
  });
});

describe('audit texts', () => {
  const source = (name: string) => readFileSync('../scheduler/api/' + name, 'utf8');
  const quoted = (text: string) => [...text.matchAll(/"([a-z_]+\.[a-z_]+)"/g)].map((match) => match[1]!);

  it('every audit action of the server has a text', () => {
    const routes = quoted(source('server/route_table.cc')).concat('bulk');
    const applied = [...source('jobs/job_applier.cc').matchAll(/RecordOf\("([a-z_.]+)"/g)].map(
      (match) => match[1]!,
    );
    const entering = quoted(source('accounts/auth_routes.cc')).filter((action) => action.startsWith('auth.'));
    expect(Math.min(routes.length, applied.length, entering.length)).toBeGreaterThan(1);
    expect(
      sorted([...routes, ...applied, ...entering]).filter((action) => !('action.' + action in en)),
    ).toEqual([]);
  });
});
