#include "common/domain/nodes/run_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "common/domain/job/job.h"

namespace carillon {
namespace {

constexpr std::string_view kType = "type";
constexpr std::string_view kTimeout = "timeout";
constexpr std::string_view kRetryCount = "retry_count";
constexpr std::string_view kRetryInterval = "retry_interval";
constexpr std::string_view kRetryBackoff = "retry_backoff";
constexpr std::string_view kRetryIntervals = "retry_intervals";
constexpr std::string_view kRetryOn = "retry_on";
constexpr std::string_view kNoRetryOn = "no_retry_on";
constexpr std::string_view kOnLost = "on_lost";
constexpr std::string_view kPriority = "priority";
constexpr std::string_view kExecutor = "executor_id";
constexpr std::string_view kSelector = "executor_selector";
constexpr std::string_view kGroup = "concurrency_group";
constexpr std::string_view kPresumeDead = "presume_dead";
constexpr std::string_view kItems = "items";
constexpr std::string_view kAs = "as";

Error Unreadable(std::string_view what) {
  constexpr size_t kShownMax = 64;
  return {ErrorCode::kCorrupt,
          fmt::format("rules of a run: cannot read '{}'", what.substr(0, kShownMax))};
}

// ---- to text -----------------------------------------------------------------------------------

// Escapes the separators of rules and of entries of a list, and all that is not printable.
std::string Escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '%' || c == ';' || c == ',' || byte < 0x20 || byte == 0x7f) {
      escaped += fmt::format("%{:02X}", byte);
    } else {
      escaped += c;
    }
  }
  return escaped;
}

std::string ListText(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += (list.empty() ? "" : ",") + Escaped(text);
  return list;
}

class Writer {
 public:
  void Text(std::string_view name, std::string_view value) { Add(name, Escaped(value)); }
  void Text(std::string_view name, const std::optional<std::string>& value) {
    if (value) Add(name, Escaped(*value));
  }
  template <typename Value>
  void Number(std::string_view name, const std::optional<Value>& value) {
    if (value) Add(name, fmt::format("{}", *value));
  }
  template <typename Value>
  void Enum(std::string_view name, const std::optional<Value>& value) {
    if (value) Add(name, Name(*value));
  }
  void List(std::string_view name, const std::optional<std::vector<std::string>>& value) {
    if (value) Add(name, ListText(*value));
  }
  std::string Take() { return std::move(text_); }

 private:
  void Add(std::string_view name, std::string_view value) {
    text_ += fmt::format("{}{}={}", text_.empty() ? "" : ";", name, value);
  }

  std::string text_;
};

// ---- from text ---------------------------------------------------------------------------------

int ValueOfHex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

Status Read(std::string_view text, std::optional<std::string>& to) {
  std::string plain;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      plain += text[i];
      continue;
    }
    const int high = i + 2 < text.size() ? ValueOfHex(text[i + 1]) : -1;
    const int low = i + 2 < text.size() ? ValueOfHex(text[i + 2]) : -1;
    if (high < 0 || low < 0) return Unreadable(text);
    plain += static_cast<char>(high * 16 + low);
    i += 2;
  }
  to = std::move(plain);
  return {};
}

template <typename Number>
Status ReadNumber(std::string_view text, std::optional<Number>& to) {
  Number number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) {
    return Unreadable(text);
  }
  to = number;
  return {};
}
Status Read(std::string_view text, std::optional<int64_t>& to) { return ReadNumber(text, to); }
Status Read(std::string_view text, std::optional<int>& to) { return ReadNumber(text, to); }

Status Read(std::string_view text, std::optional<RetryBackoff>& to) {
  const Result<RetryBackoff> parsed = ParseName<RetryBackoff>(text);
  if (!parsed.ok()) return Unreadable(text);
  to = *parsed;
  return {};
}
Status Read(std::string_view text, std::optional<OnLost>& to) {
  const Result<OnLost> parsed = ParseName<OnLost>(text);
  if (!parsed.ok()) return Unreadable(text);
  to = *parsed;
  return {};
}

template <typename Entry>
Status Read(std::string_view text, std::optional<std::vector<Entry>>& to) {
  std::vector<Entry> list;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    std::optional<Entry> entry;
    CARILLON_TRY(Read(text.substr(0, comma), entry));
    list.push_back(*std::move(entry));
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  to = std::move(list);
  return {};
}

Status ReadType(std::string_view text, std::string& to) {
  const Result<JobType> task = ParseName<JobType>(text);
  const bool is_task = task.ok() && *task != JobType::kWorkflow;
  if (!is_task && text != "approval" && text != "wait") return Unreadable(text);
  to = text;
  return {};
}

Status ReadText(std::string_view text, std::string& to) {
  std::optional<std::string> read;
  CARILLON_TRY(Read(text, read));
  to = *std::move(read);
  return {};
}

Status ReadRule(std::string_view name, std::string_view value, RunRules& rules) {
  if (name == kType) return ReadType(value, rules.type);
  if (name == kTimeout) return Read(value, rules.timeout_s);
  if (name == kRetryCount) return Read(value, rules.retry_count);
  if (name == kRetryInterval) return Read(value, rules.retry_interval_s);
  if (name == kRetryBackoff) return Read(value, rules.retry_backoff);
  if (name == kRetryIntervals) return Read(value, rules.retry_intervals_s);
  if (name == kRetryOn) return Read(value, rules.retry_on);
  if (name == kNoRetryOn) return Read(value, rules.no_retry_on);
  if (name == kOnLost) return Read(value, rules.on_lost);
  if (name == kPriority) return Read(value, rules.priority);
  if (name == kExecutor) return Read(value, rules.executor_id);
  if (name == kSelector) return Read(value, rules.executor_selector);
  if (name == kGroup) return Read(value, rules.concurrency_group);
  if (name == kPresumeDead) return Read(value, rules.presume_dead_s);
  if (name == kItems) return Read(value, rules.items);
  if (name == kAs) return ReadText(value, rules.as);
  return Unreadable(name);
}

template <typename Value>
void Take(const std::optional<Value>& rule, Value& to) {
  if (rule) to = *rule;
}

}  // namespace

std::string ToText(const RunRules& rules) {
  Writer writer;
  if (!rules.type.empty()) writer.Text(kType, std::string_view(rules.type));
  writer.Number(kTimeout, rules.timeout_s);
  writer.Number(kRetryCount, rules.retry_count);
  writer.Number(kRetryInterval, rules.retry_interval_s);
  writer.Enum(kRetryBackoff, rules.retry_backoff);
  if (rules.retry_intervals_s) {
    std::vector<std::string> waits;
    for (const int64_t wait : *rules.retry_intervals_s) waits.push_back(std::to_string(wait));
    writer.List(kRetryIntervals, waits);
  }
  writer.List(kRetryOn, rules.retry_on);
  writer.List(kNoRetryOn, rules.no_retry_on);
  writer.Enum(kOnLost, rules.on_lost);
  writer.Number(kPriority, rules.priority);
  writer.Text(kExecutor, rules.executor_id);
  writer.Text(kSelector, rules.executor_selector);
  writer.Text(kGroup, rules.concurrency_group);
  writer.Number(kPresumeDead, rules.presume_dead_s);
  writer.Number(kItems, rules.items);
  if (!rules.as.empty()) writer.Text(kAs, std::string_view(rules.as));
  return writer.Take();
}

Result<RunRules> RunRulesFromText(std::string_view text) {
  RunRules rules;
  if (text.size() > kRunRulesBytesMax) return Unreadable(text);
  std::set<std::string_view> names;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const size_t equals = part.find('=');
    if (equals == std::string_view::npos) return Unreadable(part);
    const std::string_view name = part.substr(0, equals);
    if (!names.insert(name).second) return Unreadable(part);
    CARILLON_TRY(ReadRule(name, part.substr(equals + 1), rules));
  }
  return rules;
}

JobDefinition WithRules(JobDefinition job, const RunRules& rules) {
  Take(rules.timeout_s, job.timeout_s);
  Take(rules.retry_count, job.retry_count);
  // The list of the job would go before them.
  if (rules.retry_interval_s || rules.retry_backoff) job.retry_intervals_s.clear();
  Take(rules.retry_interval_s, job.retry_interval_s);
  Take(rules.retry_backoff, job.retry_backoff);
  Take(rules.retry_intervals_s, job.retry_intervals_s);
  Take(rules.retry_on, job.retry_on);
  Take(rules.no_retry_on, job.no_retry_on);
  Take(rules.on_lost, job.on_lost);
  Take(rules.presume_dead_s, job.presume_dead_s);
  Take(rules.priority, job.priority);
  // Of executor_id and executor_selector, a job has one at most.
  if (rules.executor_id && !rules.executor_id->empty()) job.executor_selector.clear();
  if (rules.executor_selector && !rules.executor_selector->empty()) job.executor_id.clear();
  Take(rules.executor_id, job.executor_id);
  Take(rules.executor_selector, job.executor_selector);
  Take(rules.concurrency_group, job.concurrency_group);
  if (rules.items) {
    job.shards = Shards{.total = *rules.items};
    job.broadcast.reset();
  }
  return job;
}

RunRules RulesOfTask(const JobDefinition& task) {
  RunRules rules{.type = std::string(Name(task.type)),
                 .timeout_s = task.timeout_s,
                 .retry_count = task.retry_count,
                 .retry_interval_s = task.retry_interval_s,
                 .retry_backoff = task.retry_backoff,
                 .on_lost = task.on_lost,
                 .priority = task.priority};
  if (!task.retry_intervals_s.empty()) rules.retry_intervals_s = task.retry_intervals_s;
  if (!task.retry_on.empty()) rules.retry_on = task.retry_on;
  if (!task.no_retry_on.empty()) rules.no_retry_on = task.no_retry_on;
  if (task.presume_dead_s != 0) rules.presume_dead_s = task.presume_dead_s;
  if (!task.executor_id.empty()) rules.executor_id = task.executor_id;
  if (!task.executor_selector.empty()) rules.executor_selector = task.executor_selector;
  if (!task.concurrency_group.empty()) rules.concurrency_group = task.concurrency_group;
  return rules;
}

}  // namespace carillon
