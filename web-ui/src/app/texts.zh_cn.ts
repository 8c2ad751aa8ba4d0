import type { TwinOf } from '../i18n/catalogue_type';
import type { en } from './texts.en';

export const zhCN: TwinOf<typeof en> = {
  'palette.pause': '暂停 {{name}}',
  'palette.resume': '恢复 {{name}}',
  // The pause of the whole cluster.
  'pause.banner': '集群已被 {{by}} 暂停：{{reason}}。不会启动任何运行。暂停时间：',
  'overload.banner':
    '过载：优先级低于 {{below}} 且一小时内会再次触发的运行将被跳过（已跳过 {{shed}} 个）。开始时间：',
};
