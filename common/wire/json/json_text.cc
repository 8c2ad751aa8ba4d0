#include "common/wire/json/json_text.h"

#include <nlohmann/json.hpp>
#include <vector>

#include "common/wire/json/large_json.h"

namespace carillon {
namespace {

using nlohmann::json;

// Builds the document and stops at the first violation.
class StrictBuilder : public nlohmann::json_sax<json> {
 public:
  bool null() override { return Put(nullptr); }
  bool boolean(bool value) override { return Put(value); }
  bool number_integer(number_integer_t value) override { return Put(value); }
  bool number_unsigned(number_unsigned_t value) override { return Put(value); }
  bool number_float(number_float_t value, const string_t& text) override {
    // nlohmann converts a whole number of more than 64 bits to a double, which would round it.
    if (text.find_first_of(".eE") != std::string::npos) return Put(value);
    failed_at_ = Next();
    return Fail("the number has more than 64 bits");
  }
  bool string(string_t& value) override { return Put(std::move(value)); }
  bool binary(binary_t& /*value*/) override { return Fail("binary values are not JSON"); }
  bool start_object(size_t /*elements*/) override { return Open(json::object()); }
  bool start_array(size_t /*elements*/) override { return Open(json::array()); }
  bool end_object() override { return Close(); }
  bool end_array() override { return Close(); }

  bool key(string_t& name) override {
    if (open_.back()->contains(name)) {
      failed_at_ = JsonPointer(Here(), name);
      return Fail("the name is repeated in its object");
    }
    keys_.back() = std::move(name);
    return true;
  }

  bool parse_error(size_t position, const std::string& /*token*/,
                   const json::exception& /*error*/) override {
    return Fail("invalid JSON at byte " + std::to_string(position));
  }

  Result<json> Take() && {
    if (!failure_.empty()) return Error{ErrorCode::kInvalid, failure_, failed_at_};
    return std::move(root_);
  }

 private:
  bool Fail(std::string why) {
    failure_ = std::move(why);
    return false;
  }

  // Stores the next value and returns its address. An open container stays at its address, because
  // its parent gets no other value before the container is closed.
  template <typename Value>
  json* Place(Value&& value) {
    if (open_.empty()) return &(root_ = std::forward<Value>(value));
    json& parent = *open_.back();
    if (parent.is_object()) return &(parent[keys_.back()] = std::forward<Value>(value));
    parent.push_back(std::forward<Value>(value));
    return &parent.back();
  }

  template <typename Value>
  bool Put(Value&& value) {
    if (!Count()) return false;
    Place(json(std::forward<Value>(value)));
    return true;
  }

  // Counts one more value. The number is limited because each value costs memory and time, even if
  // its text is short.
  bool Count() {
    if (++values_ <= kJsonValuesMax) return true;
    return Fail("more than " + std::to_string(kJsonValuesMax) + " values");
  }

  bool Open(json container) {
    if (!Count()) return false;
    if (open_.size() >= kJsonDepthMax) {
      failed_at_ = Here();
      return Fail("nested deeper than " + std::to_string(kJsonDepthMax));
    }
    open_.push_back(Place(std::move(container)));
    keys_.emplace_back();
    return true;
  }

  bool Close() {
    open_.pop_back();
    keys_.pop_back();
    return true;
  }

  // Pointer of the innermost open container.
  std::string Here() const {
    std::string pointer;
    for (size_t i = 0; i + 1 < open_.size(); ++i) {
      const json& parent = *open_[i];
      pointer =
          JsonPointer(pointer, parent.is_object() ? keys_[i] : std::to_string(parent.size() - 1));
    }
    return pointer;
  }

  // Pointer of the value that comes next.
  std::string Next() const {
    if (open_.empty()) return "";
    const json& parent = *open_.back();
    return JsonPointer(Here(), parent.is_object() ? keys_.back() : std::to_string(parent.size()));
  }

  json root_;
  size_t values_ = 0;
  std::vector<json*> open_;
  std::vector<std::string> keys_;  // for each open object: the name of its next value
  std::string failure_;
  std::string failed_at_;
};

}  // namespace

Result<json> ParseJsonText(std::string_view text) {
  if (text.size() > kJsonBytesMax) {
    return {ErrorCode::kExhausted, "the document is larger than 1 MiB"};
  }
  return ParseLargeJsonText(text);
}

Result<json> ParseLargeJsonText(std::string_view text) {
  if (text.size() > kLargeJsonBytesMax) {
    return {ErrorCode::kExhausted, "the document is larger than 8 MiB"};
  }
  StrictBuilder builder;
  json::sax_parse(text.begin(), text.end(), &builder);
  return std::move(builder).Take();
}

std::string JsonToText(const json& document) {
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string JsonPointer(std::string_view parent, std::string_view name) {
  std::string pointer(parent);
  pointer += '/';
  for (char c : name) {
    if (c == '~') {
      pointer += "~0";
    } else if (c == '/') {
      pointer += "~1";
    } else {
      pointer += c;
    }
  }
  return pointer;
}

bool IsWithin(std::string_view pointer, std::string_view part) {
  return pointer == part || (pointer.starts_with(part) && pointer[part.size()] == '/');
}

}  // namespace carillon
