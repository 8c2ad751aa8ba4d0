import type { TwinOf } from '../../../i18n/catalogue_type';
import type { en } from './texts.en';

export const zhCN: TwinOf<typeof en> = {
  'jobs.paused': '{{name}} 已暂停',
  'jobs.resumed': '{{name}} 已恢复',
  'jobs.deleted': '{{name}} 已删除',
  'jobs.pause_title': '暂停 {{name}}？',
  'jobs.pause_explain':
    '暂停期间不会启动新的运行；正在进行的尝试会继续。恢复任务时，期间跳过的触发会记录为错过的触发。',
  'jobs.delete_title': '删除 {{name}}？',
  'jobs.delete_explain': '正在进行的运行会完成，历史记录仍可查看。其 ID 不会再被使用。此操作无法撤销。',
  'jobs.changed_meanwhile': '任务已被他人修改，请先重新查看。',
  'run_with.title': '按选项运行 {{name}}',
  'run_with.again_title': '再次运行 {{name}}',
  'run_with.start': '运行',
  'run_with.parameters': '参数',
  'run_with.parameters_hint':
    'JSON 对象，值为文本、数字或布尔值。命令通过环境变量 CARILLON_PARAM_<NAME> 获取各个值。将覆盖任务自身的参数。',
  'run_with.no_object': '必须是 JSON 对象。',
  'run_with.kept': '以下为任务自身的参数，可以更改但不能省略：{{names}}',
  'run_with.executor': '执行器',
  'run_with.executor_job': '任务默认：{{where}}',
  'run_with.executor_any': '任意执行器',
  'run_with.executor_labels': '标签符合 {{labels}} 的任意执行器',
  'run_with.executor_hint': '此处的选择优先于任务指定的执行器和标签。',
  'run_with.priority': '优先级',
  'run_with.priority_hint': '0 到 100，大者优先。留空则按任务设置。',
  'run_with.whole': '0 到 100 之间的整数。',
  'run_with.paused': '任务已暂停：此次运行仍会开始。',
  'run_with.new_run': '按任务的当前版本启动新的运行；原来的运行保持不变。',
  'cancel_runs.title': '取消 {{name}} 的所有运行？',
  'cancel_runs.do': '取消运行',
  'cancel_runs.counts': '运行中 {{running}}，等待中 {{pending}}，待确认 {{held}}',
  'cancel_runs.none': '此任务没有活动的运行。',
  'cancel_runs.unknown': '数量未知：{{why}}',
  'cancel_runs.at_least': '超过 {{n}}',
  'cancel_runs.explain':
    '等待中的运行不再启动，运行中的进程将被终止。计划仍会触发：如需阻止新的运行，请暂停任务。',
  'cancel_runs.reason': '原因（可选）',
  'cancel_runs.done': '正在取消 {{name}} 的 {{n}} 次运行',
  'cancel_runs.nothing': '{{name}} 没有活动的运行',
};
