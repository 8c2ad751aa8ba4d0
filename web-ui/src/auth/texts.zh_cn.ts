import type { TwinOf } from '../i18n/catalogue_type';
import type { en } from './texts.en';

export const zhCN: TwinOf<typeof en> = {
  'denied.own': '属于其他用户，且未共享给您。',
  'auth.sign_in': '登录',
  // Signing in.
  'auth.title': '登录',
  'auth.password_short': '密码至少需要 {{count}} 个字符。',
  'auth.refused': '用户名或密码不正确。',
  'auth.unavailable': '服务器暂时无法验证，请稍后再试。',
  'auth.expired': '会话已结束，请重新登录。',
  'auth.token_hint': '首次启动时会写入数据目录中的 admin.token 文件。令牌仅保留到此标签页关闭为止。',
  'auth.token_refused': '令牌未知或已失效。',
  'auth.use_password': '使用用户名和密码登录',
  'auth.use_token': '使用 API 令牌登录',
  'auth.setup': '创建管理员',
  'auth.setup_title': '首次设置',
  'auth.setup_explain': '设置第一位管理员的用户名和密码。此链接只能使用一次。',
  'auth.setup_hint': '尚无账户：请打开服务器启动时打印的一次性链接。',
  'auth.setup_refused': '链接已使用或已过期，或者用户名、密码不被接受。',
};
