// The page of an executor, and the dialog that adds one.
import type { executors as en } from '../en/executors';
import type { TwinOf } from '../../catalogue_type';

export const executors: TwinOf<typeof en> = {
  'executors.drain_title': '排空 {{name}}？',
  'executors.drain_explain': '执行器在再次启用之前不接受新的运行。正在进行的会继续（当前 {{n}} 个）。',
  'executors.disable_title': '禁用 {{name}}？',
  'executors.disable_explain': '执行器在再次启用之前不会获得任何工作。正在进行的会继续（当前 {{n}} 个）。',
  'executors.registered': '注册时间',
  'executors.address': '地址',
  'executors.settings': '设置版本',
  'executors.filter': '筛选运行',
  'executors.no_runs': '此执行器上的运行会显示在这里。',
  'join.title': '添加执行器',
  'join.make': '显示命令',
  'join.id': '执行器 ID',
  'join.id_hint': '小写字母、数字和 -；必须唯一',
  'join.life': '令牌有效期',
  'join.life_hint': '令牌只能使用一次。',
  'join.life_3600': '一小时',
  'join.life_86400': '一天',
  'join.life_604800': '一周',
  'join.commands': '加入 {{name}}',
  'join.once': '请立即复制：其中的令牌仅显示这一次，且只能使用一次，有效期至',
  'join.secret':
    '此集群的成员以共享密钥（而非证书）识别执行器：该文件即成员上 link.join_secret_file 所指的文件。单机服务器只使用自带的执行器。',
  'join.where': '环境',
  'join.shell': '命令行',
  'join.systemd': 'systemd',
  'join.container': '容器',
  'join.typed': '在其主机上输入的命令',
  'join.needs_shell': 'executor.yaml 中应写明此集群的 Kafka 与 ZooKeeper，与其他执行器相同。',
  'join.needs_systemd': '/etc/carillon/executor.yaml 中应写明此集群的 Kafka 与 ZooKeeper，与其他执行器相同。',
  'join.needs_container':
    'executor.yaml 与 ZooKeeper 的摘要文件和其他执行器相同；容器必须能访问 Kafka、ZooKeeper 和每个成员。',
};
