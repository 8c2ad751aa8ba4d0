#include "common/imports/kubernetes_cronjob.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "common/base/ascii.h"
#include "common/domain/cron/cron.h"
#include "common/domain/cron/cron_dialects.h"
#include "common/domain/job_text.h"
#include "common/imports/import_writer.h"
#include "common/imports/kubernetes_container.h"

namespace carillon {
namespace {

using nlohmann::json;

constexpr int64_t kPodTimeoutMaxSeconds = 604'800;
constexpr int64_t kDeadlineMaxSeconds = 86'400;
constexpr int64_t kPodRetriesMax = 100;
constexpr int64_t kBackoffLimitDefault = 6;
constexpr int64_t kGraceDefaultSeconds = 30;
constexpr int64_t kGraceMaxSeconds = 3'600;
constexpr size_t kListDepthMax = 4;

int64_t WholeOf(const json& value, const std::string& name, int64_t fallback) {
  const json& member = MemberOf(value, name);
  return member.is_number_integer() ? member.get<int64_t>() : fallback;
}

std::vector<std::string> CronWords(std::string_view text) {
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos) break;
    at = std::min(text.find_first_of(" \t", begin), text.size());
    words.emplace_back(text.substr(begin, at - begin));
  }
  return words;
}

// True if a field has nothing but numbers, names and the signs of standard cron.
bool IsStandardField(std::string_view field) {
  constexpr std::string_view kNames =
      "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC SUN MON TUE WED THU FRI SAT";
  const std::string upper = AsciiUpper(field);
  for (size_t at = 0; at < upper.size(); ++at) {
    if (!IsLetter(upper[at])) {
      if (std::string_view("0123456789*/,-?").find(upper[at]) == std::string_view::npos)
        return false;
      continue;
    }
    const std::string name = upper.substr(at, 3);
    if (name.size() < 3 || kNames.find(name) == std::string_view::npos) return false;
    at += 2;
  }
  return true;
}

// "1h30m" in milliseconds; 0 if it is no duration of Go.
int64_t GoDuration(std::string_view text) {
  double total = 0;
  while (!text.empty()) {
    double number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc() || number < 0) return 0;
    text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
    if (text.starts_with("ms")) {
      total += number;
      text.remove_prefix(1);
    } else if (text.starts_with('s')) {
      total += number * 1'000;
    } else if (text.starts_with('m')) {
      total += number * 60'000;
    } else if (text.starts_with('h')) {
      total += number * 3'600'000;
    } else {
      return 0;
    }
    text.remove_prefix(1);
  }
  constexpr double kMax = 1e15;
  return total < kMax ? static_cast<int64_t>(total) : 0;
}

// Reads one manifest.
class CronJobReader {
 public:
  CronJobReader(const json& manifest, const ImportOptions& options, const ImportWriter& writer)
      : metadata_(MemberOf(manifest, "metadata")),
        spec_(MemberOf(manifest, "spec")),
        job_spec_(MemberOf(MemberOf(spec_, "jobTemplate"), "spec")),
        pod_(MemberOf(MemberOf(job_spec_, "template"), "spec")),
        options_(options),
        writer_(writer) {}

  void Write(ImportWriter& writer) {
    const std::string name = TextOf(metadata_, "name");
    const std::string space = TextOf(metadata_, "namespace");
    const bool spaced = !space.empty() && space != "default";
    row_.source = "CronJob " + (spaced ? space + "/" : "") + name;
    job_ = {{"job_id", writer_.IdFor(spaced ? space + "-" + name : name)},
            {"name", spaced ? space + "/" + name : name},
            {"type", "container"}};
    if (name.empty()) refusals_.emplace_back("metadata.name is missing");
    if (spaced) job_["labels"]["kubernetes-namespace"] = space;
    job_["labels"]["was-running"] = MemberOf(spec_, "suspend") == json(true) ? "no" : "yes";
    SetLabels();
    SetSchedule();
    SetPolicies();
    SetRetries();
    KubernetesPod pod = ConvertPod(pod_);
    std::move(pod.refusals.begin(), pod.refusals.end(), std::back_inserter(refusals_));
    std::move(pod.remarks.begin(), pod.remarks.end(), std::back_inserter(row_.remarks));
    job_.update(pod.job);
    if (refusals_.empty()) {
      writer.Add(std::move(row_), std::move(job_));
    } else {
      row_.remarks = std::move(refusals_);
      writer.Refuse(std::move(row_));
    }
  }

 private:
  void SetLabels() {
    constexpr size_t kLabelsCopied = 20;
    constexpr size_t kNameBytes = 63;
    const json& labels = MemberOf(metadata_, "labels");
    if (!labels.is_object()) return;
    size_t copied = 0;
    for (const auto& [name, value] : labels.items()) {
      if (!value.is_string() || name.size() > kNameBytes || ++copied > kLabelsCopied) {
        row_.remarks.push_back("the label " + name + " was left out");
      } else if (!job_["labels"].contains(name)) {
        job_["labels"][name] = value;
      }
    }
  }

  void SetSchedule() {
    std::string text = TextOf(spec_, "schedule");
    row_.expression = text;
    std::string zone = TextOf(spec_, "timeZone");
    // The way of servers before 1.27, which knew no timeZone.
    const bool prefixed = text.starts_with("TZ=") || text.starts_with("CRON_TZ=");
    const size_t blank = text.find(' ');
    if (prefixed && zone.empty() && blank != std::string::npos) {
      const size_t begin = text.find('=') + 1;
      zone = text.substr(begin, blank - begin);
      text.erase(0, blank + 1);
    }
    job_["time_zone"] = zone.empty() ? options_.time_zone : zone;
    if (zone.empty() && options_.time_zone.empty()) {
      refusals_.emplace_back("it has no timeZone: give that of the controller manager");
    }
    if (text.starts_with("@every ")) {
      const int64_t every_ms = GoDuration(std::string_view(text).substr(7));
      if (every_ms <= 0) return Unreadable(text);
      job_["schedules"] = {{{"kind", "rate"}, {"every_ms", every_ms}}};
      return;
    }
    std::vector<std::string> words = CronWords(text);
    const bool macro = words.size() == 1 && text.starts_with('@');
    if (!macro &&
        (words.size() != 5 || !std::all_of(words.begin(), words.end(), IsStandardField))) {
      return Unreadable(text);
    }
    // A stepped star restricts its field there: either day field may match.
    for (const size_t day : {size_t{2}, size_t{4}}) {
      if (macro || !words[day].starts_with("*/")) continue;
      const std::string_view partner = words[day == 2 ? 4 : 2];
      if (partner == "*" || partner == "?" || words[day] == "*/1") continue;
      words[day] = (day == 2 ? "1-31" : "0-6") + words[day].substr(1);
    }
    const std::string expression = fmt::format("{}", fmt::join(words, " "));
    if (!ParsePlainCron(expression).ok()) return Unreadable(text);
    job_["schedules"] = {{{"kind", "cron"}, {"cron_expression", expression}}};
    // The clock of its controller: what a change of the clock leaves out is not run, and what
    // comes twice is run twice.
    job_["dst_gap"] = "skip";
    job_["dst_repeat"] = "both";
  }

  void Unreadable(const std::string& text) {
    refusals_.push_back("Kubernetes cannot read the schedule " + text);
  }

  void SetPolicies() {
    const std::string policy = TextOf(spec_, "concurrencyPolicy");
    if (policy == "Forbid") {
      job_["overlap_policy"] = "skip";
    } else if (policy == "Replace") {
      job_["overlap_policy"] = "cancel_previous";
    } else if (!policy.empty() && policy != "Allow") {
      refusals_.push_back("unknown concurrencyPolicy " + policy);
    }
    const int64_t deadline = WholeOf(spec_, "startingDeadlineSeconds", -1);
    if (deadline >= 0) {
      job_["misfire_policy"] = "skip";
      job_["misfire_grace"] = std::min(deadline, kDeadlineMaxSeconds);
    } else {
      job_["misfire_policy"] = "latest";
    }
    if (deadline > kDeadlineMaxSeconds) {
      row_.remarks.push_back(fmt::format("startingDeadlineSeconds {} becomes one day", deadline));
    }
    const int64_t grace = WholeOf(pod_, "terminationGracePeriodSeconds", kGraceDefaultSeconds);
    job_["kill_grace"] = std::clamp<int64_t>(grace, 0, kGraceMaxSeconds);
  }

  void SetRetries() {
    const int64_t retries = WholeOf(job_spec_, "backoffLimit", kBackoffLimitDefault);
    if (retries > kPodRetriesMax) {
      row_.remarks.push_back(fmt::format("backoffLimit {} becomes {}", retries, kPodRetriesMax));
    }
    if (retries > 0) {
      job_["retry_count"] = std::min(retries, kPodRetriesMax);
      job_["retry_interval"] = 10;
      job_["retry_backoff"] = "exponential";
    }
    int64_t timeout = WholeOf(job_spec_, "activeDeadlineSeconds", 0);
    if (timeout > 0 && retries > 0) {
      row_.remarks.emplace_back(
          "activeDeadlineSeconds becomes the timeout of each attempt, not of all together");
    }
    if (timeout <= 0) timeout = WholeOf(pod_, "activeDeadlineSeconds", 0);
    if (timeout > kPodTimeoutMaxSeconds) {
      row_.remarks.push_back(fmt::format("the timeout of {} s becomes {} s, the longest possible",
                                         timeout, kPodTimeoutMaxSeconds));
    }
    job_["timeout"] =
        timeout <= 0 ? kPodTimeoutMaxSeconds : std::min(timeout, kPodTimeoutMaxSeconds);
    for (const char* name : {"parallelism", "completions"}) {
      if (WholeOf(job_spec_, name, 1) > 1) {
        refusals_.push_back(fmt::format("{} above 1 is not available", name));
      }
    }
    if (IsSet(MemberOf(job_spec_, "podFailurePolicy"))) {
      row_.remarks.emplace_back("podFailurePolicy was left out: every failure is retried");
    }
  }

  const json& metadata_;
  const json& spec_;
  const json& job_spec_;
  const json& pod_;
  const ImportOptions& options_;
  const ImportWriter& writer_;
  ImportedRow row_;
  json job_;
  std::vector<std::string> refusals_;
};

// Returns true if it was a manifest of any kind.
bool TakeManifest(const json& manifest, const ImportOptions& options, size_t depth,
                  ImportWriter& writer) {
  const std::string kind = TextOf(manifest, "kind");
  const json& items = MemberOf(manifest, "items");
  if (kind.empty()) return false;
  if (kind == "CronJob") {
    CronJobReader(manifest, options, writer).Write(writer);
  } else if (kind.ends_with("List") && items.is_array() && depth < kListDepthMax) {
    for (const json& item : items) {
      if (TakeManifest(item, options, depth + 1, writer)) continue;
      writer.Refuse({.source = "an item of " + kind, .remarks = {"it has no kind"}});
    }
  } else {
    writer.Refuse({.source = kind + " " + TextOf(MemberOf(manifest, "metadata"), "name"),
                   .remarks = {"it is no CronJob"}});
  }
  return true;
}

}  // namespace

Result<ImportResult> ImportCronJobs(const std::vector<ImportFile>& files,
                                    const ImportOptions& options) {
  ImportWriter writer(ImportKind::kCronJob, options);
  bool found = false;
  for (const ImportFile& file : files) {
    if (!file.fault.empty()) writer.Refuse({.source = file.name, .remarks = {file.fault}});
    for (const json& document : file.documents) {
      if (TakeManifest(document, options, 0, writer)) {
        found = true;
      } else if (!document.is_null()) {
        writer.Refuse({.source = file.name.empty() ? "a document" : file.name,
                       .remarks = {"it has no kind, so it is no manifest"}});
      }
    }
  }
  if (!found) return Error{ErrorCode::kInvalid, "no manifest of Kubernetes in it"};
  return writer.Take();
}

}  // namespace carillon
