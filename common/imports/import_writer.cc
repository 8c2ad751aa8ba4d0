#include "common/imports/import_writer.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/base/ascii.h"
#include "common/domain/job_text.h"
#include "common/domain/schedule/schedule_twins.h"
#include "common/wire/json/document_order.h"
#include "common/wire/json/job/job_json.h"

namespace carillon {
namespace {

using nlohmann::json;

constexpr size_t kShownBytesMax = 500;
constexpr size_t kImportedIdBytesMax = 63;
constexpr size_t kImportedNameMax = 130;  // characters; leaves room for the id behind it

// At most `characters` code points of UTF-8 text.
std::string FirstCharacters(const std::string& text, size_t characters) {
  size_t end = 0;
  while (end < text.size() && characters > 0) {
    ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
    --characters;
  }
  return text.substr(0, end);
}

// Makes the texts of a row fit for a terminal and for JSON.
ImportedRow Showable(ImportedRow row) {
  row.source = ImportShown(row.source);
  row.expression = ImportShown(row.expression);
  for (std::string& remark : row.remarks) remark = ImportShown(remark);
  return row;
}

}  // namespace

std::string ImportShown(std::string_view bytes) {
  std::string text = ToValidUtf8(bytes.substr(0, kShownBytesMax));
  std::replace_if(text.begin(), text.end(), IsControl, ' ');
  return text;
}

std::string ImportedId(std::string_view name) {
  std::string id;
  for (const char c : name) {
    const bool plain = IsLetter(c) || IsDigit(c) || c == '_';
    if (plain && !(id.empty() && c == '_')) {
      id += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    } else if (!id.empty() && id.back() != '-') {
      id += '-';
    }
  }
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id;
}

std::string ImportFault(std::string_view text) {
  constexpr size_t kAny = size_t{1} << 30;  // the job has bounds of its own
  return TextFault(text, kAny);
}

std::string ImportWriter::IdFor(std::string_view name) const {
  std::string id = options_.id_prefix + ImportedId(name);
  id.resize(std::min(id.size(), kImportedIdBytesMax));
  while (!id.empty() && id.back() == '-') id.pop_back();
  return id;
}

void ImportWriter::Refuse(ImportedRow row) {
  row.verdict = Verdict::kRefused;
  row.job_id.clear();
  result_.rows.push_back(Showable(std::move(row)));
}

bool ImportWriter::Add(ImportedRow row, json job) {
  job["enabled"] = false;
  job["labels"]["imported-from"] = Name(kind_);
  const std::string id = job["job_id"];
  if (const auto other = sources_.find(id); other != sources_.end()) {
    row.remarks.push_back(fmt::format("its id {} is already that of {}", id, other->second));
    Refuse(std::move(row));
    return false;
  }
  std::string name = ImportShown(job["name"].get<std::string>());
  if (IsBlank(name) || HasDirectionOverride(name)) name = id;
  const std::string short_name = FirstCharacters(name, kImportedNameMax);
  const int same = names_[short_name];
  job["name"] = same == 0 ? short_name : fmt::format("{} [{}]", short_name, id);
  Mistakes further;
  const auto valid = ParseJob(job, &further);
  if (!valid.ok()) {
    row.remarks.push_back(fmt::format("{}: {}", valid.error().pointer, valid.error().message));
    Refuse(std::move(row));
    return false;
  }
  // Two texts of the source may mean the same times, at which it would run once.
  const auto twins = FindTwins(valid->definition.schedules);
  for (auto twin = twins.rbegin(); twin != twins.rend(); ++twin)
    job["schedules"].erase(twin->second);
  sources_[id] = ImportShown(row.source);
  ++names_[short_name];
  if (!row.remarks.empty()) row.verdict = Verdict::kRemarked;
  row.job_id = id;
  result_.rows.push_back(Showable(std::move(row)));
  result_.jobs.push_back(std::move(job));
  return true;
}

ImportResult ImportWriter::Take() {
  std::vector<json> ordered;
  ordered.reserve(result_.jobs.size());
  for (const size_t i : UpstreamFirst(json(result_.jobs))) {
    ordered.push_back(std::move(result_.jobs[i]));
  }
  result_.jobs = std::move(ordered);
  return std::move(result_);
}

}  // namespace carillon
