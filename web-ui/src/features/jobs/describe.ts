// A schedule in words. Words only: when a job fires is what the server computes.
import cronstrue from 'cronstrue';
import type { Job, Schedule } from '../../api/types';
import { span } from '../../shared/format';

let chinese = false;

// Chinese words are fetched when they are first needed.
export async function loadWords(language: string): Promise<void> {
  if (language !== 'zh-CN' || chinese) return;
  await import('cronstrue/locales/zh_CN.js');
  chinese = true;
}

export function describeCron(expression: string, language: string): string {
  // The server reads what follows a # as a comment; cronstrue as "the n-th weekday".
  if (expression.includes('#')) return '';
  try {
    return cronstrue.toString(expression, {
      use24HourTimeFormat: true,
      locale: language === 'zh-CN' && chinese ? 'zh_CN' : 'en',
    });
  } catch {
    return '';
  }
}

type Translate = (key: string, values?: Record<string, unknown>) => string;

export function scheduleText(schedule: Schedule, t: Translate): string {
  if (schedule.kind === 'cron') return schedule.cron_expression;
  if (schedule.kind === 'rate') return t('schedule.every', { span: span(schedule.every_ms) });
  return t('schedule.once', { at: schedule.at.replace('T', ' ').replace(/\.0+Z$/, 'Z') });
}

export function zoneOf(job: Job): string {
  const [first] = job.schedules;
  return (first?.kind === 'cron' && first.time_zone) || job.time_zone;
}
