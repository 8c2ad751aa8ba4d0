#include "cli/commands/yaml.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "common/wire/json_text.h"

namespace carillon::cli {
namespace {

using nlohmann::json;

Error At(const YAML::Node& node, const std::string& what) {
  return {ErrorCode::kInvalid, "line " + std::to_string(node.Mark().line + 1) + ": " + what};
}

// A plain scalar by YAML's core schema; text when it is nothing else.
json PlainScalar(const std::string& text) {
  if (text.empty() || text == "~" || text == "null" || text == "Null" || text == "NULL") {
    return nullptr;
  }
  if (text == "true" || text == "True" || text == "TRUE") return true;
  if (text == "false" || text == "False" || text == "FALSE") return false;
  const char* begin = text.data();
  const char* end = begin + text.size();
  int64_t whole = 0;
  if (const auto [at, error] = std::from_chars(begin, end, whole); at == end) {
    if (error == std::errc()) return whole;
  }
  // from_chars also takes "inf" and "nan", which are text here.
  if (text.find_first_not_of("+-.0123456789eE") == std::string::npos) {
    double number = 0;
    const auto [at, error] = std::from_chars(begin, end, number);
    if (at == end && error == std::errc() && std::isfinite(number)) return number;
  }
  return text;
}

Result<json> Convert(const YAML::Node& node, size_t depth);

Result<json> ConvertMap(const YAML::Node& node, size_t depth) {
  json object = json::object();
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) return At(entry.first, "a name must be text");
    const std::string& name = entry.first.Scalar();
    if (object.contains(name)) return At(entry.first, name + " is given twice");
    CARILLON_ASSIGN_OR_RETURN(object[name], Convert(entry.second, depth + 1));
  }
  return object;
}

Result<json> Convert(const YAML::Node& node, size_t depth) {
  if (depth > kJsonDepthMax) return At(node, "nested too deeply");
  switch (node.Type()) {
    case YAML::NodeType::Undefined:
    case YAML::NodeType::Null: return json(nullptr);
    case YAML::NodeType::Scalar:
      // The tag "!" marks a quoted scalar.
      return node.Tag() == "!" ? json(node.Scalar()) : PlainScalar(node.Scalar());
    case YAML::NodeType::Map: return ConvertMap(node, depth);
    case YAML::NodeType::Sequence: break;
  }
  json list = json::array();
  for (const auto& item : node) {
    CARILLON_ASSIGN_OR_RETURN(json value, Convert(item, depth + 1));
    list.push_back(std::move(value));
  }
  return list;
}

// An alias lets a short text stand for a huge document; this looks for one without building it.
class AliasFinder : public YAML::EventHandler {
 public:
  bool found = false;

 private:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override { found = true; }
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

bool HasAlias(const std::string& text) {
  std::istringstream in(text);
  YAML::Parser parser(in);
  AliasFinder finder;
  while (!finder.found && parser.HandleNextDocument(finder)) {
  }
  return finder.found;
}

// ---- writing -----------------------------------------------------------------------------------

bool IsPlainText(const std::string& text) {
  if (text.empty() || !PlainScalar(text).is_string()) return false;
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-' || c == '.' ||
           c == '/' || c == ' ';
  };
  if (!std::all_of(text.begin(), text.end(), plain)) return false;
  if (std::isalpha(static_cast<unsigned char>(text[0])) == 0 && text[0] != '/') return false;
  if (text.back() == ' ') return false;
  std::string lower = text;
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return lower != "yes" && lower != "no" && lower != "on" && lower != "off" && lower != "y" &&
         lower != "n";
}

// Several lines that a literal block keeps as they are: no indentation at its start, no line of
// blanks alone, at most one line end at its end.
bool IsBlockText(const std::string& text) {
  if (text.find('\n') == std::string::npos || text[0] == ' ' || text[0] == '\n') return false;
  for (const unsigned char c : text) {
    if ((c < 0x20 && c != '\n') || c == 0x7F) return false;
  }
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    if (line.find_first_not_of(' ') == std::string_view::npos) return false;
    at = end + 1;
  }
  return true;
}

class Writer {
 public:
  void Write(const json& value, size_t indent) {
    if (value.is_object() && !value.empty()) {
      WriteMap(value, indent);
    } else if (value.is_array() && !value.empty()) {
      WriteList(value, indent);
    } else {
      text_ += Scalar(value, indent) + "\n";
    }
  }
  std::string Take() && { return std::move(text_); }

 private:
  static std::string Pad(size_t indent) { return std::string(indent, ' '); }

  static std::string Scalar(const json& value, size_t indent) {
    if (!value.is_string()) return JsonToText(value);
    const auto& text = value.get_ref<const std::string&>();
    if (IsPlainText(text)) return text;
    if (!IsBlockText(text)) return JsonToText(value);  // a JSON string is a YAML one
    const bool ends = text.back() == '\n';
    std::string block = ends ? "|" : "|-";
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find('\n', at), text.size());
      block += "\n" + Pad(std::max<size_t>(indent, 2)) + text.substr(at, end - at);
      at = end + 1;
    }
    return block;
  }

  static bool IsNested(const json& value) { return value.is_structured() && !value.empty(); }

  void WriteMap(const json& map, size_t indent) {
    bool first = true;
    for (const auto& [name, value] : map.items()) {
      if (!first || !in_list_) text_ += Pad(indent);
      first = false;
      in_list_ = false;
      text_ += (IsPlainText(name) ? name : JsonToText(json(name))) + ":";
      if (IsNested(value)) {
        text_ += "\n";
        Write(value, indent + 2);
      } else {
        text_ += " " + Scalar(value, indent + 2) + "\n";
      }
    }
  }

  void WriteList(const json& list, size_t indent) {
    bool first = true;
    for (const json& value : list) {
      if (!first || !in_list_) text_ += Pad(indent);
      first = false;
      text_ += "- ";
      in_list_ = IsNested(value);
      Write(value, indent + 2);
      in_list_ = false;
    }
  }

  std::string text_;
  bool in_list_ = false;  // the cursor stands behind "- "
};

}  // namespace

Result<json> ReadYaml(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string::npos && (text[first] == '{' || text[first] == '[')) {
    auto document = ParseJsonText(text);
    if (document.ok()) return document;  // otherwise it may be YAML's flow style
  }
  if (text.size() > kJsonBytesMax) return {ErrorCode::kInvalid, "larger than 1 MiB"};
  try {
    if (HasAlias(text)) return {ErrorCode::kInvalid, "aliases (*name) are not taken here"};
    const std::vector<YAML::Node> documents = YAML::LoadAll(text);
    if (documents.size() > 1) return At(documents[1], "more than one document");
    return documents.empty() ? json(nullptr) : Convert(documents[0], 1);
  } catch (const YAML::Exception& e) {
    return {ErrorCode::kInvalid, "line " + std::to_string(e.mark.line + 1) + ": " + e.msg};
  }
}

std::string WriteYaml(const json& document) {
  Writer writer;
  writer.Write(document, 0);
  return std::move(writer).Take();
}

}  // namespace carillon::cli
