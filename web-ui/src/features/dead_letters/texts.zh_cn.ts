import type { TwinOf } from '../../i18n/catalogue_type';
import type { en } from './texts.en';

export const zhCN: TwinOf<typeof en> = {
  'runs.whole_job_id': '完整的任务 ID',
  // Failing jobs and dead letters.
  'failing.title': '持续失败的任务',
  'failing.hint': '有死信且此后没有成功的任务。下次成功后即离开此列表。',
  'failing.since': '开始失败于',
  'failing.in_a_row': '连续失败次数',
  'failing.last_success': '上次成功',
  'failing.no_success': '没有记录',
  'failing.letters_of': '{{job}} 的死信',
  'dead.all': '全部死信',
  'dead.total': '{{n}} 个死信',
  'dead.retry_all': '全部重试',
  'dead.retry_all_named': '全部重试：{{job}} 的死信',
  'dead.discard_all': '全部丢弃',
  'dead.discard_all_named': '全部丢弃：{{job}} 的死信',
  'dead.selection': '对所选项的操作',
  'dead.title': '死信',
  'dead.under': '在全部重试后仍失败的运行',
  'dead.none': '没有死信',
  'dead.none_hint': '最后一次尝试仍失败的运行会出现在这里，可以重试或丢弃。',
  'dead.replay': '重试',
  'dead.replay_named': '重试 {{job}} 的运行 {{id}}',
  'dead.replay_title': '重试 {{job}} 的运行？',
  'dead.replay_explain': '已尝试 {{n}} 次，将再获得一次尝试，并离开此列表。如果仍然失败，会再次出现。',
  'dead.discard': '丢弃',
  'dead.discard_named': '丢弃 {{job}} 的运行 {{id}}',
  'dead.discard_title': '丢弃 {{job}} 的死信？',
  'dead.discard_explain': '它会离开此列表。该运行在历史中保持原样（共尝试 {{n}} 次）。',
  'dead.discarded': '{{job}} 的死信已丢弃',
};
