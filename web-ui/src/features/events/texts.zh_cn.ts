import type { TwinOf } from '../../i18n/catalogue_type';
import type { en } from './texts.en';

export const zhCN: TwinOf<typeof en> = {
  'events.title': '事件',
  'events.under': '最近 72 小时内启动了运行或被拒绝的事件',
  'events.none': '没有事件',
  'events.none_hint': '与“事件”类计划匹配的事件及其启动的运行会显示在这里。不匹配的事件不会保存。',
  'events.type': '类型',
  'events.type_filter': '类型，例如 order.*',
  'events.source': '来源',
  'events.id': 'ID',
  'events.subject': '主题',
  'events.accepted': '接收时间',
  'events.outcome': '结果',
  'events.any_outcome': '任意结果',
  'events.outcome.started': '已启动',
  'events.outcome.gap': '没有运行',
  'events.outcome.refused': '已拒绝',
  'events.starts': '作用',
  'events.run_of': '{{job}} 的运行',
  'events.more': '另有 {{count}} 个',
  // The page of a run.
  'events.started_by': '由事件启动',
  'events.effects': '它启动的全部内容',
  // The test of an event.
  'events.test': '测试此事件',
  'events.test_all': '用所有计划测试一个事件',
  'events.test_event': '事件（JSON）',
  'events.test_hint': '显示它会启动什么。不会启动或保存任何内容。',
  'events.not_json': '必须是 JSON 对象。',
  'events.no_triggers': '此命名空间中没有等待事件的计划。',
  'events.result.matched': '匹配',
  'events.result.no_match': '不匹配',
  'events.result.not_computable': '无法判断',
  'events.result.bad_event': '事件无法使用',
  'events.untrusted': '来自外部',
  'events.untrusted_hint': '来自外部的文本不会成为命令的一部分。运行可以从环境变量中读取该参数。',
};
