import type { TwinOf } from '../../i18n/catalogue_type';
import type { en } from './texts.en';

export const zhCN: TwinOf<typeof en> = {
  'shards.part_of': '所有分片的运行；本运行是 {{total}} 个分片中的分片 {{index}}',
  'shards.title': '分片',
  'shards.table': '分片表格',
  'shards.cells': '按状态显示的分片；表格内容相同',
  'shards.cell': '分片 {{index}}：{{state}}',
  'shards.cell_on': '分片 {{index}}：{{state}}，{{executor}}',
  'shards.filter': '按状态显示分片',
  'shards.all': '全部',
  'shards.count': '{{state}} {{n}}',
  'shards.index': '分片',
  'shards.attempt': '尝试',
  'shards.started': '开始',
  'shards.duration': '用时',
  'shards.reason': '原因',
  'shards.more': '显示全部 {{n}} 个分片',
  'shards.none': '没有处于此状态的分片。',
  'shards.retry_failed': '重试失败的分片',
  'shards.retry_all': '重试所有分片',
  'shards.all_title': '重试全部 {{n}} 个分片？',
  'shards.all_explain': '已完成的分片也会再次运行。',
  'shards.anyway': '这些分片的进程可能仍在运行，仍要重试吗？',
};
