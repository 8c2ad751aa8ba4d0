import type { TwinOf } from '../../../i18n/catalogue_type';
import type { en } from './texts.en';

export const zhCN: TwinOf<typeof en> = {
  'jobs.any_namespace': '任意命名空间',
  'jobs.run_with': '指定参数运行…',
  'jobs.state': '状态',
  'jobs.schedule': '调度计划',
  'jobs.next': '下次触发',
  'jobs.not_planned': '无法安排',
  'jobs.another_user': '其他用户',
  'jobs.search': '按名称或 ID 搜索',
  'jobs.none': '还没有任务',
  'jobs.none_hint': '任务是带有调度计划的命令。可在此处或通过命令行创建第一个任务。',
  'jobs.run': '立即运行',
  'jobs.run_named': '立即运行 {{name}}',
  'jobs.more_named': '{{name}} 的更多操作',
  'jobs.resume': '恢复',
  'jobs.edit': '编辑',
  'jobs.duplicate': '复制',
  // The list of jobs: filters, import and export.
  'jobs.only_label': '仅显示带有 {{label}} 的任务',
  'jobs.by_label': '按标签筛选，例如 team = etl',
  'jobs.by_label_such': 'team = etl',
  'jobs.add_label': '按此标签筛选',
  'jobs.filtered_by': '筛选条件',
  'jobs.owner_is': '所有者：{{name}}',
  'jobs.remove_filter': '移除筛选条件 {{filter}}',
  'jobs.page_size': '每页行数',
  'jobs.page_of': '{{n}} 行',
  'jobs.last_result': '上次结果',
  'jobs.import': '导入',
  'strip.column': '最近运行',
};
