import type { TwinOf } from '../../i18n/catalogue_type';
import type { en } from './texts.en';

export const zhCN: TwinOf<typeof en> = {
  'gaps.title': '错过的触发',
  // Missed fires.
  'gaps.under': '没有运行的计划时间',
  'gaps.none': '没有错过的触发',
  'gaps.none_hint': '未能及时安排、或在任务暂停期间到期的触发会记录在这里：起止时间、次数和原因。',
  'gaps.any_reason': '任意原因',
  'gaps.from': '首次',
  'gaps.to': '末次',
  'gaps.fires': '触发次数',
  'gaps.why_named': '原因：{{job}} 错过的触发',
};
