// The schedule of all jobs.
import type { plan as en } from '../en/plan';
import type { TwinOf } from '../../catalogue_type';

export const plan: TwinOf<typeof en> = {
  'plan.under': '所有计划触发（时区 {{zone}}）',
  'plan.day': '日',
  'plan.week': '周',
  'plan.before': '上一个',
  'plan.after': '下一个',
  'plan.date': '日期',
  'plan.today': '今天',
  'plan.truncated': '任务或触发过多，无法全部统计：仅包含前 {{n}} 个任务。',
  'plan.density': '密度',
  'plan.sum': '{{jobs}} 个任务，共 {{fires}} 次触发。',
  'plan.busiest_minute': '最繁忙的一分钟是 {{at}}，共 {{fires}} 次。',
  'plan.busiest_hour': '最繁忙的一小时是 {{at}}，共 {{fires}} 次。',
  'plan.by_job': '按任务和小时的触发',
  'plan.by_hour': '按日期和小时的触发',
  'plan.more_jobs': '另有 {{n}} 个任务；选择某小时可查看该小时的任务',
  'plan.none_day': '这一天没有触发。',
  'plan.none_week': '这一周没有触发。',
  'plan.none_hour': '这一小时没有触发。',
  'plan.hour': '从 {{at}} 起的一小时',
  'plan.hour_named': '{{at}}：{{fires}} 次触发',
  'plan.in_hour': '该小时的任务',
  'plan.fires': '触发次数',
  'plan.minutes': '分钟',
};
