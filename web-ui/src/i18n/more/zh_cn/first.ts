// The overview: first steps, failures by hour.
import type { first as en } from '../en/first';
import type { TwinOf } from '../../catalogue_type';

export const first: TwinOf<typeof en> = {
  'first.title': '开始使用',
  'first.done': '已完成',
  'first.to_do': '待完成',
  'first.executor': '执行器在线',
  'first.executor_is': '{{name}} 已就绪。',
  'first.create': '创建并运行示例任务',
  'first.create_hint':
    '该任务输出一句问候，计划为每分钟一次。除非选择保持启用，否则保持暂停；这次运行为手动启动。',
  'first.keep': '保持启用，每分钟运行',
  'first.go': '创建并运行',
  'first.name': 'Hello',
  'first.description': '示例任务',
  'first.watch': '观察运行结果',
  'first.watch_hint': '将自动转到该次运行。',
  'first.onward': '接下来',
  'first.edit': '编辑计划',
  'first.own': '创建自己的任务',
  'first.crontab': '导入您的 crontab：',
  'first.second': '查看执行器',
  'failures.title': '最近七天的失败（按小时）',
  'failures.more': '数量过多：仅统计最近 {{n}} 次。',
  'next.title': '未来一小时',
  'next.none': '未来一小时内没有触发。',
  'next.times': '一小时内 {{n}} 次',
  'next.more': '以及另外 {{n}} 个任务',
  'failures.cell': '{{day}} {{hour}} 时：{{n}} 次失败',
};
