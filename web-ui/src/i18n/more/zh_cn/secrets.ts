// Secrets.
import type { secrets as en } from '../en/secrets';
import type { TwinOf } from '../../catalogue_type';

export const secrets: TwinOf<typeof en> = {
  'secrets.under': '供任务环境变量使用的值，以 {{form}} 引用。只能写入，不能读取。',
  'secrets.none': '尚无机密',
  'secrets.none_hint': '任务所需的密码或密钥保存在此处，而不写入任务定义。',
  'secrets.new': '新建机密',
  'secrets.create': '创建机密',
  'secrets.created': '已创建机密 {{name}}',
  'secrets.changed': '已修改机密 {{name}}',
  'secrets.replaced': '已更换机密 {{name}} 的值',
  'secrets.deleted': '已删除机密 {{name}}',
  'secrets.name_hint': '以字母或 _ 开头，后接字母、数字和 _；之后不可更改',
  'secrets.value': '值',
  'secrets.value_hint': '至少 8 字节，按输入原样保存。以后不再显示。',
  'secrets.new_value': '新值（可选）',
  'secrets.new_value_hint': '留空则保持不变。此后启动的运行使用新值。',
  'secrets.show': '显示输入内容',
  'secrets.description': '描述（可选）',
  'secrets.shared': '可供所有任务使用',
  'secrets.shared_hint': '否则仅限其所有者的任务。',
  'secrets.shared_denied': '只有管理员可以共享机密。',
  'secrets.use': '可用范围',
  'secrets.use_all': '所有任务',
  'secrets.use_own': '所有者的任务',
  'secrets.only_own': '只有所有者或管理员可以执行此操作。',
  'secrets.edit_named': '编辑 {{name}}',
  'secrets.delete_named': '删除 {{name}}',
  'secrets.delete_title': '删除 {{name}}？',
  'secrets.delete_explain': '引用它的任务仍会保留，但此后的运行将失败。其值无法找回。',
};
