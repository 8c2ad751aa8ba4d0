import type { TwinOf } from '../../i18n/catalogue_type';
import type { en } from './texts.en';

export const zhCN: TwinOf<typeof en> = {
  'admin.deliveries': '通知',
  'deliveries.under': '关于运行的通知：事件、收件人和投递状态',
  'deliveries.none': '尚未发出任何通知',
  'deliveries.none_hint': '设置 Webhook 或邮件后，运行失败、延迟启动、错过或恢复时会发出通知。',
  'deliveries.any_state': '任意状态',
  'deliveries.any_kind': '任意事件',
  'deliveries.kind': '事件',
  'deliveries.what': '事件',
  'deliveries.whom': '接收方',
  'deliveries.tries': '尝试次数',
  'deliveries.next': '下次尝试',
  'deliveries.error': '最近错误',
  'deliveries.time': '创建时间',
  'deliveries.denied': '只有管理员可以发送通知。',
  'deliveries.resend_named': '重新发送 {{job}} 的通知 {{id}}',
  'deliveries.resent': '正在重新发送',
  'deliveries.not_resent': '未能重新发送',
  'deliveries.test': '发送测试通知',
  'deliveries.test_explain': '立即通过 Webhook 和邮件各发送一次测试。测试不会出现在此列表中。',
  'deliveries.test_go': '发送',
  'deliveries.test_again': '再次发送',
  'deliveries.testing': '正在发送…',
  'deliveries.test_result': '结果',
};
