import type { TwinOf } from '../../i18n/catalogue_type';
import type { en } from './texts.en';

export const zhCN: TwinOf<typeof en> = {
  'auth.password_again': '再次输入密码',
  'auth.password_differs': '两次输入的密码不一致。',
  'role.admin': '管理员',
  'role.user': '用户',
  'role.read_only': '只读',
  'theme.system': '跟随系统',
  'theme.light': '浅色',
  'theme.dark': '深色',
  'language.en': 'English',
  'language.zh-CN': '简体中文',
  'account.who': '个人信息',
  'account.unknown': '服务器未提供。',
  'account.by': '登录方式',
  'account.permissions': '权限',
  'account.password': '密码',
  'account.password_needs_user': '您使用 API 令牌登录，没有密码。',
  'account.old_password': '当前密码',
  'account.new_password': '新密码',
  'account.change_password': '修改密码',
  'account.password_changed': '密码已修改',
  'account.password_others': '您的其他会话均已结束。',
  'account.display': '偏好设置',
  'account.display_hint':
    '语言、主题和时间格式随您的用户保存，用密码登录的任何地方都有效；其余各项，以及使用 API 令牌时的全部设置，仅保存在此浏览器中。',
  'account.zone': '本地时区',
  'account.zone_hint': '留空：使用浏览器的时区',
  'account.zone_unknown': '浏览器不认识此时区。',
  'account.shared': '共享给您',
  'account.shared_none': '无',
};
