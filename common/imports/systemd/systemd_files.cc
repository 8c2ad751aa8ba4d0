#include "common/imports/systemd/systemd_files.h"

#include <algorithm>
#include <array>
#include <set>

namespace carillon {
namespace {

constexpr std::string_view kDropIns = ".d";
constexpr std::string_view kUnitMark = "\xEF\xBB\xBF";
constexpr std::array<std::string_view, 2> kReadTypes{"timer", "service"};
constexpr std::array<std::string_view, 9> kOtherTypes{
    ".mount", ".automount", ".path", ".socket", ".slice", ".scope", ".swap", ".target", ".device"};

std::string_view TakeFileLine(std::string_view& text) {
  const size_t end = std::min(text.find('\n'), text.size());
  const std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return line;
}

std::string_view WithoutLineBlanks(std::string_view line) {
  constexpr std::string_view kFileBlanks = " \t\r";
  line.remove_prefix(std::min(line.find_first_not_of(kFileBlanks), line.size()));
  return line.substr(0, line.find_last_not_of(kFileBlanks) + 1);
}

bool IsUnitName(std::string_view name) {
  return name.ends_with(".timer") || name.ends_with(".service");
}

std::string_view UnitBaseName(std::string_view path) {
  return path.substr(path.find_last_of('/') + 1);
}

// "backup.timer" of "/etc/systemd/system/backup.timer.d/hours.conf"; "" for other paths.
std::string_view OwnerOfDropIn(std::string_view path) {
  if (!path.ends_with(".conf")) return {};
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return {};
  const std::string_view folder = UnitBaseName(path.substr(0, slash));
  if (!IsDropInFolder(folder)) return {};
  return folder.substr(0, folder.size() - kDropIns.size());
}

// True for the path of a unit of another type, and of a drop-in.
bool IsOfOtherUnit(std::string_view path) {
  return (path.ends_with(".conf") && path.find(".d/") != std::string_view::npos) ||
         std::any_of(kOtherTypes.begin(), kOtherTypes.end(),
                     [path](std::string_view type) { return path.ends_with(type); });
}

// The path of a line "# /etc/systemd/system/x.timer.d/y.conf", which `systemctl cat` writes above
// each file, or of "# /y.conf", which the console writes above each of several files.
std::string_view PathOfHeader(std::string_view line) {
  line = WithoutLineBlanks(line);
  if (!line.starts_with("# /") || line.find(' ', 2) != std::string_view::npos) return {};
  const std::string_view path = line.substr(2);
  const bool nameless = path.ends_with(".conf") && path.rfind('/') == 0;
  return IsUnitName(path) || IsOfOtherUnit(path) || nameless ? path : std::string_view();
}

bool SaysNothing(std::string_view text) {
  while (!text.empty()) {
    const std::string_view line = WithoutLineBlanks(TakeFileLine(text));
    if (!line.empty() && line.front() != '#' && line.front() != ';') return false;
  }
  return true;
}

// True if the drop-ins of `owner` belong to `unit`: its own, those of its template, of a beginning
// of its name that ends with a minus, and those of all units of its type.
bool Covers(std::string_view owner, std::string_view unit) {
  if (owner == unit) return true;
  const size_t dot = unit.rfind('.');
  const std::string_view type = unit.substr(dot);
  if (owner == type.substr(1)) return true;
  if (!owner.ends_with(type)) return false;
  const std::string_view stem = unit.substr(0, dot);
  const std::string_view pattern = owner.substr(0, owner.size() - type.size());
  const size_t at = stem.find('@');
  if (at != std::string_view::npos && pattern == stem.substr(0, at + 1)) return true;
  return pattern.ends_with('-') && stem.starts_with(pattern);
}

struct DropIn {
  std::string owner;
  std::string path;
  std::string text;
};

class UnitFiles {
 public:
  void Read(const ImportFile& file) {
    std::string_view text = file.text;
    if (text.starts_with(kUnitMark)) text.remove_prefix(kUnitMark.size());
    std::string path = file.name;
    std::string part;
    while (!text.empty()) {
      const std::string_view line = TakeFileLine(text);
      if (const std::string_view next = PathOfHeader(line); !next.empty()) {
        Take(path, part);
        part.clear();
        path = next;
      }
      part += line;
      part += '\n';
    }
    Take(path, part);
  }

  SystemdUnits Finish() {
    std::sort(drop_ins_.begin(), drop_ins_.end(), [](const DropIn& a, const DropIn& b) {
      const std::string_view left = UnitBaseName(a.path);
      const std::string_view right = UnitBaseName(b.path);
      return left != right ? left < right : a.path < b.path;
    });
    for (const DropIn& one : drop_ins_) MakeInstance(one.owner);
    for (const DropIn& one : drop_ins_) {
      bool used = !one.owner.ends_with(".timer");
      for (auto& [name, unit] : found_.units) {
        if (!Covers(one.owner, name)) continue;
        unit.Read(one.text);
        used = true;
      }
      if (!used) Leave(one.path, "its timer " + one.owner + " is not among the files");
    }
    return std::move(found_);
  }

 private:
  void Take(const std::string& path, const std::string& text) {
    const std::string_view base = UnitBaseName(path);
    const std::string_view owner = OwnerOfDropIn(path);
    if (!owner.empty()) {
      // What `systemctl cat` prints has those of all units of a type once for each unit.
      if (paths_.insert(path).second) drop_ins_.push_back({std::string(owner), path, text});
    } else if (IsUnitName(base)) {
      found_.units[std::string(base)].Read(text);
    } else if (!SaysNothing(text) && !IsOfOtherUnit(path)) {
      Leave(path, "name the file as its unit, or its folder X.timer.d or X.service.d");
    }
  }

  // An instance that has drop-ins of its own is a unit, too.
  void MakeInstance(const std::string& name) {
    const size_t at = name.find('@');
    if (at == std::string::npos || found_.units.contains(name)) return;
    const size_t dot = name.rfind('.');
    if (dot <= at + 1) return;
    const auto pattern = found_.units.find(name.substr(0, at + 1) + name.substr(dot));
    if (pattern != found_.units.end()) found_.units[name] = pattern->second;
  }

  void Leave(const std::string& path, std::string why) {
    found_.unread.push_back({.source = path.empty() ? "the text" : path,
                             .verdict = Verdict::kRefused,
                             .remarks = {std::move(why)}});
  }

  SystemdUnits found_;
  std::vector<DropIn> drop_ins_;
  std::set<std::string> paths_;
};

}  // namespace

bool IsDropInFolder(std::string_view name) {
  if (!name.ends_with(kDropIns)) return false;
  name.remove_suffix(kDropIns.size());
  return IsUnitName(name) ||
         std::find(kReadTypes.begin(), kReadTypes.end(), name) != kReadTypes.end();
}

SystemdUnits ReadSystemdUnits(const std::vector<ImportFile>& files) {
  UnitFiles read;
  for (const ImportFile& file : files) read.Read(file);
  return read.Finish();
}

}  // namespace carillon
