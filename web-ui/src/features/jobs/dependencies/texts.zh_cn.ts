import type { TwinOf } from '../../../i18n/catalogue_type';
import type { en } from './texts.en';

export const zhCN: TwinOf<typeof en> = {
  'deps.upstream': '上游任务',
  'deps.upstream_hint': '此任务在以下任务之后启动，或等待其运行。',
  'deps.no_upstream': '此任务不在其他任务之后启动。',
  'deps.downstream': '下游任务',
  'deps.downstream_hint': '以下任务在此任务之后启动，或等待其运行。',
  'deps.no_downstream': '没有任务在此任务之后启动。',
  'deps.used_by': '使用此任务的工作流',
  'deps.by_nodes': '{{count}} 个节点：{{nodes}}',
  'deps.nodes': '其节点的任务',
  'deps.waits': '等待：{{fires}}',
  'deps.waits_node': '等待其节点 {{node}}：{{fires}}',
  'deps.waits_on': '等待其运行（{{on}}）',
  'deps.waits_deleted': '已删除，等待到期后结束',
  'deps.on_success': '成功时',
  'deps.on_failure': '失败时',
  'deps.on_done': '成功或失败时',
  'deps.deleted': '已删除，不再启动此任务',
  'deps.hidden': '未显示：{{count}} 个您无权查看的任务。',
};
