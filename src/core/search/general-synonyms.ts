/**
 * How people and agents ask for what computers do, in English and Chinese: one group a line, words that stand for each
 * other. Only what holds in any catalogue is here (verbs of work, and the things that programs work on); the words of one
 * trade belong into the `synonyms` of its catalogue. Chinese stands here because tools are mostly described in English.
 */
import type { Synonyms } from './synonyms.js';

const VERBS = `
create, make, new, generate, add, set up, put together, build up, 创建, 新建, 建立, 新增, 生成, 添加, 建一个, 建个, 加一个, whip up, 弄一个, 搞一个, 起一个
write, save, store, put, 写, 写入, 写到, 保存, 存储, 存, record, persist, 记录
write, draft, compose, author, 撰写, 起草, 编写, 写一份, 写个
read, view, show, display, see, look at, look into, look through, go through, check out, cat, print, open, contents, inspect, present, reveal, 读, 读取, 查看, 看, 看看, 看一下, 显示, 打开, 展示, 内容, take a look, have a look, let me see, pull up, bring up, 看下, 看一眼, 瞧瞧, 看清
get, fetch, retrieve, obtain, read, 获取, 取得, 拿到, 得到, grab, pull up, 拿, 取, 取出
list, enumerate, show all, ls, overview, 列出, 列表, 列一下, 所有, 有哪些, 哪些, 列出来, 都有什么, 都有哪些, 清单
find, search, look up, lookup, look for, locate, query, seek, hunt, discover, find out, search for, come across, track down, 查找, 搜索, 查询, 检索, 寻找, 找, 找到, 找出, 搜, 搜一下, 查, 定位, pinpoint, hunt down, dig up, spot, 寻
delete, remove, erase, rm, drop, discard, get rid of, clean up, purge, unlink, bin, throw away, toss, take out, dispose of, 删除, 移除, 删掉, 删, 去掉, 清除, 清理, throw out, wipe, scrap, ditch, trash, 清, 扔, 扔掉, 丢掉, 去除
change, modify, edit, update, alter, adjust, replace, tweak, amend, rework, rewrite, 修改, 更改, 编辑, 更新, 改, 改动, 变更, 调整, 替换, touch up, 改成
replace, substitute, swap, 替换, 换成, swap out, exchange, 换, 替
rename, change name, give a new name, better name, call differently, 重新命名, 重命名, 改名, 更名, 改个名, new name, different name, 换名字, 换名, 改名字, 起名
move, mv, relocate, transfer, 移动, 挪, 挪到, 搬, put into, shift, 移, 移到, 放到, 搬到
copy, duplicate, clone, cp, 复制, 拷贝
run, execute, launch, exec, perform, 运行, 执行, 跑, 跑一下, trigger, invoke, carry out
start, begin, launch, enter, get going, 进入, 起, spawn, boot, spin up, fire up, kick off, open, 启动, 开始, 开启, 开
stop, end, cancel, abort, kill, leave, finish, terminate, halt, quit, shut down, close, exit, 停止, 停, 终止, 取消, 结束, 关闭, 关掉, 退出, 中止, call off, shut off, 中断, 杀掉
send, submit, post, deliver, dispatch, 发送, 发, 发给, 递交
message, tell, reply, talk to, communicate, ping, 消息, 告诉, 通知, 回复
answer, reply, respond, response, 回答, 答复, 回复
compare, diff, difference, contrast, versus, vs, delta, 差别, 比较, 对比, 差异, 区别, 不同
check, verify, validate, inspect, make sure, ensure, 检查, 校验, 验证, 核对
check, status, look at, see whether, 检查
review, critique, feedback, look over, assess, evaluate, 评审, 审查, 审阅, 审核, 点评, second opinion, 审, 把关
explain, describe, document, meaning, 解释, 说明, 描述
ask, question, clarify, confirm, prompt, inquire, consult, check with, ask for, 问, 询问, 提问, 确认, 澄清, 请示, find out from, let somebody decide, 问问, 征求, 拍板, 请教
install, add dependency, set up, 安装, 装, 装一个, 装上, bring in, pull in, 引入
upload, push, publish, send, 上传, 推送, 发布, 推
download, fetch, pull, 下载, 拉取
apply, accept, confirm, take over, 应用, 采纳, 接受, 落实, approve, go ahead, go ahead with, looks good, put into effect, 同意, 生效, 写进
compile, build, bundle, make, assemble, 编译, 构建, 打包
format, prettify, beautify, formatter, code style, indent, pretty print, reformat, tidy, style, 格式化, 格式, 美化, 排版, tidy up, 整齐
debug, debugger, troubleshoot, step through, 调试, 排错
fix, repair, correct, resolve, solve, 修复, 修正, 解决, 修, mend, sort out, 修好
refactor, restructure, rewrite, reorganize, 重构
analyze, analyse, examine, audit, inspect, investigate, study, 分析, 审计, 排查
schedule, plan, arrange, 安排, 计划, 规划
remember, memorize, note, note down, write up, keep in mind, memory, jot down, write down, 记住, 记下, 记忆, 备忘, 记一下, bear in mind, for the record, for next time, 记得, 记, 记录下来
recall, remember, remind, 回忆, 回想, 想起, earlier, before, last time, 之前, 以前, 上次
forget, unlearn, 忘记, 忘掉
delegate, hand over, assign, outsource, hand off, 委派, 委托, 交给, 分派, 指派, somebody else, someone else, pass on, farm out, 派, 派给, 让别人, 分出去
wait, pause, sleep, 等待, 暂停
continue, resume, go on, proceed, 继续, 恢复, carry on, move on, keep going, 接着, 往下
undo, revert, roll back, rollback, restore, 撤销, 回滚, 还原, 恢复, 回退
import, load, 导入
export, dump, 导出
write, dump, put into
translate, 翻译
summarize, summary, digest, tldr, 总结, 摘要, 概括, sum up, overview, gist
count, how many, number of, 统计, 计数, 多少
evaluate, compute, calculate, 计算, 求值, 评估
connect, attach, 连接, 附加
`;

const THINGS = `
file, document, 文件, 文档
folder, directory, dir, path, 文件夹, 目录, 路径
project, workspace, repo, repository, codebase, 项目, 工作区, 仓库, 代码库, 工程
code, source, source code, 代码, 源码, 源代码
snippet, fragment, 片段
function, method, procedure, routine, func, 函数, 函数名, 方法, 方法名, 函式
class, type, struct, interface, 类, 类名, 结构体, 接口
type, signature, 类型, 签名
variable, var, field, 变量
symbol, identifier, name, 符号, 标识符
definition, declaration, declare, where defined, implementation, 实现, 定义, 声明, declared, where written, 写在哪, 在哪写
reference, usage, use, occurrence, who uses, where used, used, call site, 引用, 使用处, 用到, 用法, 调用处
caller, who calls, incoming call, callee, call graph, call hierarchy, 调用者, 被调用, 谁调用, 调用关系, 调用链, 调用图, 调用层次, 调用
string, text, 字符串, 文本, 文字
pattern, regex, regular expression, glob, wildcard, 模式, 正则, 正则表达式, 通配符
line, row, 行
error, failure, fault, problem, exception, mistake, trouble, 错误, 报错, 故障, 出错, 异常, 问题, complain, complaint, 毛病
fail, failed, failure, broken, red, 失败, 没通过, 挂了, 不通过, went wrong, go wrong, 没过, 挂掉
warning, lint, diagnostic, 警告, 告警, 诊断
bug, defect, issue, problem, ticket, bug report, mistake, 缺陷, 问题, 故障单, bug 报告
test, unit test, spec, specs, test case, assertion, 测试, 单元测试, 单测, 用例, test suite, suite, 套件
coverage, 覆盖率
log, output, console output, trace, printed, did print, 日志, 输出, 记录, tail, 打印
stack trace, backtrace, traceback, 堆栈, 调用栈
commit, check in, checkin, record changes, commits made, 提交
branch, 分支
history, log, past, earlier, over time, this week, this month, previous, timeline, 历史, 记录, last week, last month, yesterday, recently, lately, so far, 上周, 上个月, 昨天, 最近, 近期, 过去
author, who, by whom, 作者, 谁, 谁写的, responsible, culprit, 负责
change, modification, patch, diff, 改动, 变更, 补丁, 更改, 变化
uncommitted, unstaged, dirty, local changes, pending changes, changed files, working tree, untracked, staged, 未提交, 没提交, 工作区
merge request, pull request, PR, MR, 合并请求, 拉取请求, 合并
remote, origin, upstream, server, 远程, 远端, 服务器
issue, ticket, bug report, feature request, problem report, 问题单, 工单, 议题, 缺陷单, reported, 报过
comment, remark, annotation, reply, 评论, 备注, 留言, 批注, 注释
package, library, dependency, module, lib, 包, 依赖, 依赖包, 库, 模块, 第三方库, third party, 第三方
version, release, 版本, 发行版
newest, latest, current, recent, 最新, 最近, 新版
licence, license, 许可证, 许可, 协议
vulnerability, security hole, CVE, security, 漏洞, 安全, 安全漏洞
release notes, changelog, change log, whats new, 更新日志, 变更日志, 发布说明, 变更记录, 发行说明
documentation, docs, manual, reference, guide, 文档, 手册, 参考, 官方文档
web page, website, url, link, web, internet, site, http, 网页, 网站, 网址, 链接, 网络
job, task, work, 任务, 作业, 工作
background, async, asynchronous, 后台, 异步, on its own, by itself, unattended, meanwhile, in the meantime, in parallel, 同时
queue, pending, waiting, 队列, 排队, 等待
status, state, progress, condition, result, outcome, 状态, 进度, 情况, 进展, how far along, going on, 做到哪, 到哪
finished, done, complete, completed, over, 完成, 做完, 结束, 好了
agent, subagent, sub agent, helper, worker, assistant, 代理, 子代理, 智能体, 助手, 帮手, helping, somebody else, someone else, 助理, 帮忙
todo, checklist, to do, plan, step, 待办, 清单, 步骤, 计划
note, memo, memory, 笔记, 备忘, 便签
convention, rule, decision, 约定, 规范, 决定
terminal, shell, command line, console, bash, cmd, tty, 终端, 命令行, 控制台
command, cmd, 命令, 指令
script, 脚本
server, service, 服务器, 服务
breakpoint, 断点
expression, value, 表达式, 值
resource, 资源
schema, data model, 模式, 结构
user, person, human, customer, 用户
message, mail, 消息, 信息
name, title, called, 名字, 名称, 名
outline, structure, overview, 大纲, 结构, 概览, 轮廓, table of contents, skeleton, at a glance, 概要
info, information, detail, details, 信息, 详情, 细节
import, using, 导入
dependency injection, 依赖注入
unused, dead, 未使用
picture, image, photo, 图片, 图像, 照片
table, sheet, spreadsheet, 表格, 表
database, db, 数据库
calendar, agenda, 日历, 日程
meeting, appointment, event, 会议, 约会, 活动
email, mail, inbox, 邮件, 邮箱
contact, address book, 联系人, 通讯录
weather, forecast, 天气, 预报
price, cost, 价格, 费用
order, purchase, 订单, 下单
account, profile, 账户, 账号
list, collection, 列表
permission, access, right, 权限
reminder, alarm, 提醒, 闹钟
preview, propose, suggest, 预览, 先看, 提议, 建议
git, version control, source control, vcs, 版本控制, 版本库
suggestion, proposal, hint, quick fix, 建议, 提示
whole, everywhere, throughout, across, all over, global, 整个, 全局, 到处, 全项目
`;

/** How a question is put tells what is to be done. */
const QUESTIONS: readonly { words: string[]; means: string[] }[] = [
  {
    words: [
      'is there',
      'are there',
      'do we have',
      'have we',
      'does it exist',
      'any known',
      '有没有',
      '是否有',
      '是否存在',
    ],
    means: ['search', 'find', 'list'],
  },
  {
    words: [
      'where is',
      'where are',
      'where do we',
      'in which file',
      'which file',
      '在哪',
      '哪里',
      '哪个文件',
      '在哪里',
    ],
    means: ['find', 'search'],
  },
  {
    words: [
      'how do i',
      'how to',
      'how does',
      'how can i',
      '怎么用',
      '如何使用',
      '怎样',
      '怎么写',
      '怎么配置',
      '如何配置',
    ],
    means: ['documentation', 'docs', 'manual'],
  },
  {
    words: ['who made', 'who wrote', 'who changed', 'who added', 'who did', 'whose', '谁写', '谁改', '谁加'],
    means: ['author'],
  },
  {
    words: ['what happened', 'what went wrong', 'why did', 'why does', '为什么失败', '怎么回事'],
    means: ['log', 'error', 'report'],
  },
  {
    words: ['what is in', 'what does it say', 'what is inside', '里面有什么', '写了什么', '有什么'],
    means: ['read', 'list', 'contents'],
  },
  {
    words: ['is it done', 'is it finished', 'how far', '好了吗', '完成了吗', '是否完成'],
    means: ['status', 'progress'],
  },
  {
    words: [
      'what do we know',
      'what did we',
      'what was agreed',
      'we agreed',
      'agreed on',
      'we decided',
      '说好的',
      '之前说',
    ],
    means: ['memory', 'notes', 'decided'],
  },
];

/** The groups as data; parsed from the lines above, which are easier to read and to keep in order. */
export const GENERAL_SYNONYMS: Synonyms = [
  ...[VERBS, THINGS].flatMap((lines) =>
    lines
      .trim()
      .split('\n')
      .map((line) => line.split(',').map((word) => word.trim())),
  ),
  ...QUESTIONS,
];
