#include "cli/terminal/output.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <utility>

#include "common/wire/json/job/job_json.h"
#include "common/wire/json/json_text.h"
#include "common/yaml/yaml.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

constexpr size_t kCellCharactersMax = 60;
constexpr std::string_view kBold = "\033[1m";
constexpr std::string_view kPlain = "\033[0m";

std::string_view ColorOf(const std::string& state) {
  if (state == "COMPLETED" || state == "ENABLED" || state == "ONLINE") return "\033[32m";
  if (state == "FAILED" || state == "LOST" || state == "TIMED_OUT") return "\033[31m";
  if (state == "RUNNING" || state == "running" || state == "HELD" || state == "UNHEALTHY")
    return "\033[33m";
  return "";
}

json Member(const json& object, std::string_view path) {
  const json* at = &object;
  while (!path.empty()) {
    const size_t dot = path.find('.');
    const auto found = at->is_object() ? at->find(std::string(path.substr(0, dot))) : at->end();
    if (found == at->end()) return nullptr;
    at = &*found;
    path = dot == std::string_view::npos ? "" : path.substr(dot + 1);
  }
  return *at;
}

// Shortens a time: "2026-03-01T02:00:00.000000Z" becomes "2026-03-01 02:00:00Z".
bool LooksLikeTime(const std::string& text) {
  return text.size() == 27 && text[10] == 'T' && text[19] == '.' && text.back() == 'Z';
}

size_t Characters(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string Shorten(const std::string& text) {
  if (Characters(text) <= kCellCharactersMax) return text;
  size_t end = 0;
  for (size_t count = 0; count < kCellCharactersMax; ++count) {
    ++end;
    while (end < text.size() && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) ++end;
  }
  return text.substr(0, end) + "…";
}

std::string Printable(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = ' ';
  }
  return text;
}

}  // namespace

Result<Form> ParseForm(std::string_view text) {
  if (text == "table" || text == "wide") return Form::kTable;
  if (text == "json") return Form::kJson;
  if (text == "jsonl") return Form::kJsonl;
  if (text == "yaml") return Form::kYaml;
  if (text == "name") return Form::kName;
  return {ErrorCode::kInvalid, "--output must be table, wide, json, jsonl, yaml or name"};
}

const View& JobView() {
  static const View view{{{"JOB", "job_id"},
                          {"NAME", "name"},
                          {"STATE", "state"},
                          {"SCHEDULE", "schedule"},
                          {"NEXT FIRE", "next_fire_time"}},
                         "job_id",
                         {{"NAMESPACE", "namespace"},
                          {"PRIORITY", "priority"},
                          {"OWNER", "user_id"},
                          {"LABELS", "labels"},
                          {"VERSION", "version"},
                          {"CHANGED", "update_time"},
                          {"PAUSE REASON", "pause_reason"},
                          {"SCHEDULE PROBLEM", "schedule_problem"},
                          {"PROBLEM", "problem"}}};
  return view;
}

const View& RunView() {
  static const View view{{{"RUN", "run_id"},
                          {"JOB", "job_id"},
                          {.title = "NODE", .member = "node", .sparse = true},
                          {"KIND", "kind"},
                          {"FIRE TIME", "fire_time"},
                          {"STATE", "state"},
                          {"REASON", "reason"},
                          {"ATTEMPT", "attempt"},
                          {"EXECUTOR", "executor_id"},
                          {"EXIT", "exit_code"}},
                         "run_id",
                         {{"JOB NAME", "job_name"},
                          {"STARTED", "started_at"},
                          {"ENDED", "ended_at"},
                          {"PRIORITY", "priority"},
                          {"HTTP", "http_status"},
                          {.title = "WORKFLOW RUN", .member = "workflow_run_id", .sparse = true},
                          {"ERROR", "error"}}};
  return view;
}

const View& ExecutorView() {
  static const View view{{{"EXECUTOR", "executor_id"},
                          {"HOST", "host"},
                          {"STATE", "state"},
                          {"ENABLED", "enabled"},
                          {"DRAINING", "draining"},
                          {"RUNNING", "running"},
                          {"SLOTS", "slots"},
                          {"CPU", "load.cpu", false, true},
                          {"LAST HEARTBEAT", "last_heartbeat_time"}},
                         "executor_id",
                         {{"MEMORY", "load.memory", false, true},
                          {"DISK", "load.disk", false, true},
                          {"IO", "load.io", false, true},
                          {"LABELS", "labels"},
                          {"CAN RUN", "features"},
                          {"BREAKER", "breaker.state"},
                          {"VERSION", "version"},
                          {"REGISTERED", "register_time"}}};
  return view;
}

const View& FireView() {
  static const View view{
      {{"FIRE TIME", "fire_time", true}, {"LOCAL TIME", "local_time"}, {"DST", "dst"}},
      "fire_time"};
  return view;
}

std::string Cell(const json& value) {
  if (value.is_null()) return "-";
  const auto text_only = [](const json& item) { return item.is_string(); };
  if (value.is_array() && !value.empty() && std::all_of(value.begin(), value.end(), text_only)) {
    std::string cell;
    for (const json& item : value) cell += (cell.empty() ? "" : ", ") + Cell(item);
    return cell;
  }
  if (!value.is_string()) return JsonToText(value);
  const auto& text = value.get_ref<const std::string&>();
  if (LooksLikeTime(text)) return text.substr(0, 10) + " " + text.substr(11, 8) + "Z";
  return Printable(text);
}

namespace {

// Formats a value as Cell does. If a time has a fraction of a second, the fraction is kept.
std::string ExactCell(const json& value) {
  std::string cell = Cell(value);
  if (!value.is_string() || !LooksLikeTime(value.get_ref<const std::string&>())) return cell;
  std::string fraction = value.get_ref<const std::string&>().substr(19, 7);
  while (fraction.back() == '0') fraction.pop_back();
  if (fraction.size() > 1) cell.insert(cell.size() - 1, fraction);
  return cell;
}

// Adds one line per field. The name of a field in a nested object contains the path: "load.cpu".
void AddLines(const std::string& prefix, const json& object,
              const std::function<std::string(const std::string&, const json&)>& show,
              std::vector<std::pair<std::string, std::string>>& lines) {
  for (const auto& [name, value] : object.items()) {
    if (value.is_object() && !value.empty()) {
      AddLines(prefix + Printable(name) + ".", value, show, lines);
    } else {
      const std::string path = prefix + Printable(name);
      lines.emplace_back(path, show(path, value));
    }
  }
}

}  // namespace

bool Printer::Document(const json& document) {
  switch (options_.form) {
    case Form::kJson:
      out_ << document.dump(2, ' ', false, json::error_handler_t::replace) << "\n";
      return true;
    case Form::kJsonl: out_ << JsonToText(document) << "\n"; return true;
    case Form::kYaml: out_ << WriteYaml(document); return true;
    case Form::kTable:
    case Form::kName: break;
  }
  return false;
}

void Printer::List(const json& page, const View& view) {
  const json items = page.value("items", json::array());
  if (options_.quiet || options_.form == Form::kName) {
    for (const json& item : items) out_ << Cell(Member(item, view.id)) << "\n";
  } else if (options_.form == Form::kJsonl) {
    for (const json& item : items) out_ << JsonToText(item) << "\n";
  } else if (!Document(page)) {
    Table({items.begin(), items.end()}, view);
  }
}

void Printer::Object(const json& object, const View& view) {
  if (options_.quiet || options_.form == Form::kName) {
    if (!view.id.empty()) out_ << Cell(Member(object, view.id)) << "\n";
    return;
  }
  if (Document(object)) return;
  std::vector<std::pair<std::string, std::string>> lines;
  std::set<std::string> shares;
  for (const auto* columns : {&view.columns, &view.wide}) {
    for (const Column& column : *columns) {
      if (column.share) shares.insert(column.member);
    }
  }
  const auto show = [&](const std::string& path, const json& value) {
    return Show(value, {.title = "", .member = path, .share = shares.contains(path)});
  };
  AddLines("", object, show, lines);
  size_t width = 0;
  for (const auto& [name, text] : lines) width = std::max(width, Characters(name));
  for (const auto& [name, text] : lines) {
    out_ << name << std::string(width + 2 - Characters(name), ' ') << text << "\n";
  }
}

void Printer::Row(const json& object, const View& view) {
  if (options_.quiet || options_.form == Form::kName) {
    out_ << Cell(Member(object, view.id)) << "\n";
  } else if (!Document(object)) {
    Table({object}, view);
  }
}

void Printer::Line(std::string_view text) { out_ << text << "\n"; }

std::string Counted(int64_t count, const std::string& what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

std::string RelativeTime(WallTime time, WallTime now) {
  struct Unit {
    int64_t seconds;
    const char* name;
  };
  constexpr std::array kUnits = {Unit{86'400, "d"}, Unit{3'600, "h"}, Unit{60, "m"}, Unit{1, "s"}};
  const int64_t away = std::chrono::duration_cast<std::chrono::seconds>(time - now).count();
  for (const Unit& unit : kUnits) {
    const int64_t count = std::abs(away) / unit.seconds;
    // A larger unit is used only from 2 on, because "90m" says more than "1h".
    if (count < 2 && unit.seconds > 1) continue;
    const std::string amount = std::to_string(count) + unit.name;
    if (count > 0) return away > 0 ? "in " + amount : amount + " ago";
  }
  return "now";
}

std::string ZonedTime(WallTime time, const Zone& zone) {
  const int64_t second = ToUnixMicros(time) / 1'000'000;
  if (second < kZoneBegin || second >= kZoneEnd) return Cell(FormatRfc3339(time));
  const int32_t offset = zone.OffsetAt(second);
  const std::string local = FormatRfc3339(time + std::chrono::seconds(offset));
  const int32_t minutes = std::abs(offset) / 60;
  const auto two = [](int32_t n) { return (n < 10 ? "0" : "") + std::to_string(n); };
  return local.substr(0, 10) + " " + local.substr(11, 8) + (offset < 0 ? "-" : "+") +
         two(minutes / 60) + ":" + two(minutes % 60);
}

std::string Printer::Show(const json& value, const Column& column) const {
  if (column.share && value.is_number()) {
    return std::to_string(std::lround(value.get<double>() * 100)) + "%";
  }
  if (time_text_ && value.is_string()) {
    const auto& text = value.get_ref<const std::string&>();
    const auto time = LooksLikeTime(text) ? ParseRfc3339(text) : Error{ErrorCode::kInvalid, ""};
    if (time.ok()) return time_text_(*time);
  }
  return column.exact ? ExactCell(value) : Cell(value);
}

void Printer::Table(const std::vector<json>& rows, const View& view) {
  std::vector<Column> columns = view.columns;
  if (options_.wide) columns.insert(columns.end(), view.wide.begin(), view.wide.end());
  std::erase_if(columns, [&rows](const Column& column) {
    return column.sparse && std::ranges::all_of(rows, [&column](const json& row) {
             return Member(row, column.member).is_null();
           });
  });
  std::vector<std::vector<std::string>> cells(rows.size() + 1);
  for (const Column& column : columns) cells[0].push_back(column.title);
  for (size_t i = 0; i < rows.size(); ++i) {
    for (const Column& column : columns) {
      const std::string text = Show(Member(rows[i], column.member), column);
      cells[i + 1].push_back(options_.wide ? text : Shorten(text));
    }
  }
  std::vector<size_t> widths(columns.size(), 0);
  for (const auto& row : cells) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], Characters(row[c]));
  }
  for (size_t r = 0; r < cells.size(); ++r) {
    for (size_t c = 0; c < cells[r].size(); ++c) {
      const std::string& text = cells[r][c];
      const std::string_view color = !options_.color ? "" : r == 0 ? kBold : ColorOf(text);
      out_ << color << text << (color.empty() ? "" : kPlain);
      if (c + 1 < cells[r].size()) out_ << std::string(widths[c] + 2 - Characters(text), ' ');
    }
    out_ << "\n";
  }
}

}  // namespace carillon::cli
