import type { TwinOf } from '../i18n/catalogue_type';
import type { en } from './texts.en';

export const zhCN: TwinOf<typeof en> = {
  'palette.pause': '暂停 {{name}}',
  'palette.resume': '恢复 {{name}}',
  // The pause of the whole cluster.
  'pause.banner': '集群已被 {{by}} 暂停：{{reason}}。不会启动任何运行。暂停时间：',
};
