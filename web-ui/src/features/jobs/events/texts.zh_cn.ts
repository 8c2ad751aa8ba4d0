import type { TwinOf } from '../../../i18n/catalogue_type';
import type { en } from './texts.en';

export const zhCN: TwinOf<typeof en> = {
  'trigger.type': '事件类型',
  'trigger.type_n': '计划 {{n}} 的事件类型',
  'trigger.type_hint': '完整的类型，或类型的开头加星号。单独的星号表示所有类型。',
  'trigger.source': '事件来源',
  'trigger.source_n': '计划 {{n}} 的事件来源',
  'trigger.source_hint': '留空表示任意来源。',
  'trigger.filter': '过滤条件',
  'trigger.filter_n': '计划 {{n}} 的过滤条件',
  'trigger.filter_hint': '对事件的条件。留空表示此类型的所有事件。',
  'trigger.parameters': '来自事件的参数',
  'trigger.parameters_n': '计划 {{n}} 的参数',
  'trigger.parameters_hint': 'JSON 对象。值可以用双花括号引用 event.id、event.data.名称 等。',
  'trigger.test': '用事件测试',
  'trigger.test_n': '用事件测试计划 {{n}}',
};
