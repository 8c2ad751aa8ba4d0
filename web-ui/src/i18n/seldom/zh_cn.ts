// Simplified Chinese of what ./en holds.
import type { SeldomCatalogue } from '.';

export const zhCNSeldom: SeldomCatalogue = {
  'run_with.title': '运行 {{name}}，指定…',
  'run_with.again_title': '修改后再次运行 {{name}}',
  'run_with.start': '运行',
  'run_with.parameters': '参数',
  'run_with.parameters_hint': 'JSON 对象，值为文本、数字或布尔值；命令中为 CARILLON_PARAM_<NAME>。将覆盖任务自身的参数。',
  'run_with.no_object': '必须是 JSON 对象。',
  'run_with.kept': '以下为任务自身的参数，可以更改但不能省略：{{names}}',
  'run_with.executor': '执行器',
  'run_with.executor_job': '按任务设置：{{where}}',
  'run_with.executor_any': '任意',
  'run_with.executor_labels': '标签符合 {{labels}} 的任意执行器',
  'run_with.executor_hint': '此处的选择优先于任务指定的执行器和标签。',
  'run_with.priority': '优先级',
  'run_with.priority_hint': '0 到 100，大者优先。留空则按任务设置。',
  'run_with.whole': '0 到 100 之间的整数。',
  'run_with.paused': '任务已暂停：此次运行仍会开始。',
  'run_with.new_run': '将按任务当前的定义新建一次运行；原来的运行保持不变。',
};
