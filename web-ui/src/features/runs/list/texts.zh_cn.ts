import type { TwinOf } from '../../../i18n/catalogue_type';
import type { en } from './texts.en';

export const zhCN: TwinOf<typeof en> = {
  'runs.news': '{{n}} 条新运行',
  'runs.last_1h': '最近 1 小时',
  'runs.last_24h': '最近 24 小时',
  'runs.last_168h': '最近 7 天',
  'runs.waiting': '等待其他任务',
  'runs.any_kind': '任意触发方式',
  'runs.any_owner': '所有所有者',
  'runs.mine': '我的任务',
  'range.title': '时间范围',
  'range.until': '截至 {{at}}',
  'range.from': '从',
  'range.to': '到',
  'range.zone': '按时区 {{zone}}。留空表示不限。',
  'range.wrong': '结束时间必须晚于开始时间。',
  'range.apply': '应用',
  'runs.any_executor': '任意执行器',
  'runs.any_time': '任意时间',
  'runs.since': '起始时间',
  'runs.since_at': '自 {{at}} UTC',
  'runs.job_id': '任务 ID',
  'strip.label': '{{name}} 的最近运行，最新的在末尾',
  'strip.run': '{{state}}，{{at}}',
  'strip.run_took': '{{state}}，{{at}}，耗时 {{span}}',
};
