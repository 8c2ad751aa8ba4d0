// Describes a schedule in words. The times of its fires are not computed here: only the server does this.
import './texts.en';
import cronstrue from 'cronstrue';
import { useEffect, useState } from 'react';

let chinese = false;

// The Chinese words are loaded when they are first needed.
async function loadWords(language: string): Promise<void> {
  if (language !== 'zh-CN' || chinese) return;
  await import('cronstrue/locales/zh_CN.js');
  chinese = true;
}

// Renders the component again when the words of the language have been loaded.
export function useWords(language: string): void {
  const [, setLoaded] = useState(false);
  useEffect(() => {
    void loadWords(language).then(() => setLoaded(true));
  }, [language]);
}

type Translate = (key: string, values?: Record<string, unknown>) => string;
const UNITS = ['cron.second', 'cron.minute', 'cron.hour', 'cron.day', 'cron.month', 'cron.weekday'];
const MINUTE = 1;
const HOUR = 2;
const DAY = 3;
const DAY_OR_LAST = /^\d+L$/i;
const SPREAD = /^H(?:\((.*)\))?(?:\/(.+))?$/i;

// Describes a cron expression. The server alone knows which values the fields H have for a job.
export function describeCron(expression: string, language: string, t: Translate): string {
  const fields = expression.trim().split(/\s+/);
  if (fields.length === 5) fields.unshift('0');
  if (fields[DAY]?.split(',').some((item) => DAY_OR_LAST.test(item))) return ''; // no words for 30L
  const spreads = fields.map((field) => field.split(',').some((item) => SPREAD.test(item)));
  if (fields.length !== UNITS.length || !spreads.includes(true)) return inWords(expression, language);
  return withSpread(fields, spreads, language, t);
}

function withSpread(fields: string[], spreads: boolean[], language: string, t: Translate): string {
  const chosen: string[] = [];
  const begins: string[] = [];
  const isOne = spreads.map((spread, i) => {
    const [, range, step] = SPREAD.exec(fields[i]!) ?? [];
    if (spread) (step ? begins : chosen).push(t(UNITS[i]!) + (range && !step ? ` (${range})` : ''));
    return spread && !step;
  });
  const others = fields.map((field, i) => {
    const [, range, step] = SPREAD.exec(field) ?? [];
    return step ? `${range ?? '*'}/${step}` : spreads[i] ? '*' : field;
  });
  const join = (list: string[]) => new Intl.ListFormat(language).format(list);
  const [first = '', ...rest] = inWords(others.join(' ').replace(/^0 /, ''), language).split(', ');
  const atSecondZero = fields[0] === '0';
  // Without the H, the expression would fire each minute, or each hour: that is not said.
  const untrue = isOne[0] || (atSecondZero && (isOne[MINUTE] || (isOne[HOUR] && fields[MINUTE] === '0')));
  const parts = first === '' || untrue ? rest : [first, ...rest];
  if (isOne.slice(0, HOUR + 1).includes(true)) {
    if (!untrue && first !== '') parts[0] = first.charAt(0).toLowerCase() + first.slice(1);
    parts.unshift(t('cron.at', { list: join(chosen) }));
  } else if (chosen.length > 0) {
    parts.push(t('cron.on', { list: join(chosen) }));
  }
  if (begins.length > 0) parts.push(t('cron.from', { list: join(begins) }));
  return parts.join(', ');
}

function inWords(expression: string, language: string): string {
  try {
    return cronstrue.toString(expression, {
      use24HourTimeFormat: true,
      locale: language === 'zh-CN' && chinese ? 'zh_CN' : 'en',
    });
  } catch {
    return '';
  }
}
