#include "common/config/yaml_settings.h"

#include <yaml-cpp/yaml.h>

#include <set>

#include "common/config/config_table.h"

namespace carillon::config {
namespace {

constexpr int kDepthMax = 4;

int LineOf(const YAML::Node& node) { return node.Mark().line + 1; }

Error At(int line, const std::string& what) {
  return {ErrorCode::kInvalid, "line " + std::to_string(line) + ": " + what};
}

bool IsPairs(const std::string& name) {
  const Setting* setting = FindSetting(name);
  return setting != nullptr && setting->type == SettingType::kPairs;
}

class Reader {
 public:
  Status ReadMap(const YAML::Node& map, const std::string& prefix, int depth) {
    for (const auto& entry : map) {
      if (!entry.first.IsScalar()) return At(LineOf(entry.first), "a name must be text");
      const std::string name = prefix + entry.first.Scalar();
      if (!seen_.insert(name).second) return At(LineOf(entry.first), name + " is set twice");
      CARILLON_TRY(ReadEntry(name, entry.second, LineOf(entry.first), depth));
    }
    return {};
  }

  std::vector<FileSetting> settings;

 private:
  Status ReadEntry(const std::string& name, const YAML::Node& value, int line, int depth) {
    if (value.IsScalar() || value.IsNull()) {
      settings.push_back({name, value.IsScalar() ? value.Scalar() : "", line});
      return {};
    }
    if (!value.IsMap()) return At(line, name + " must be one value");
    if (IsPairs(name)) return ReadPairs(name, value, line);
    if (depth >= kDepthMax) return At(line, name + " is nested too deeply");
    return ReadMap(value, name + ".", depth + 1);
  }

  Status ReadPairs(const std::string& name, const YAML::Node& map, int line) {
    std::string text;
    std::set<std::string> names;
    for (const auto& pair : map) {
      if (!pair.first.IsScalar() || !pair.second.IsScalar()) {
        return At(LineOf(pair.first), name + " takes plain names and values");
      }
      if (!names.insert(pair.first.Scalar()).second) {
        return At(LineOf(pair.first), name + "." + pair.first.Scalar() + " is set twice");
      }
      if (pair.second.Scalar().find(',') != std::string::npos) {
        return At(LineOf(pair.second), "a value of " + name + " must not contain a comma");
      }
      text += (text.empty() ? "" : ",") + pair.first.Scalar() + "=" + pair.second.Scalar();
    }
    settings.push_back({name, text, line});
    return {};
  }

  std::set<std::string> seen_;
};

}  // namespace

Result<std::vector<FileSetting>> ReadYamlSettings(const std::string& text) {
  try {
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) return At(LineOf(documents[1]), "more than one document");
    if (documents.empty() || documents[0].IsNull()) return std::vector<FileSetting>{};
    if (!documents[0].IsMap()) return At(LineOf(documents[0]), "must be names and values");
    Reader reader;
    CARILLON_TRY(reader.ReadMap(documents[0], "", 1));
    return std::move(reader.settings);
  } catch (const YAML::Exception& e) {
    return At(e.mark.line + 1, e.msg);
  }
}

}  // namespace carillon::config
