// Little-endian numbers and length-prefixed texts, for the warden's socket and the files on disk.
//
// Errors   A reader that ran out of bytes stays failed and returns zeros; check ok() at the end.
// Always   Never reads out of bounds, and never allocates more than the bytes it was given.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace carillon::executor {

class ByteWriter {
 public:
  void U8(uint8_t v) { bytes_.push_back(static_cast<char>(v)); }
  void U32(uint32_t v) { Fixed(v, 4); }
  void U64(uint64_t v) { Fixed(v, 8); }
  void I64(int64_t v) { Fixed(static_cast<uint64_t>(v), 8); }
  void Text(std::string_view text) {
    U32(static_cast<uint32_t>(text.size()));
    bytes_.append(text);
  }
  void Texts(const std::vector<std::string>& texts) {
    U32(static_cast<uint32_t>(texts.size()));
    for (const std::string& text : texts) Text(text);
  }
  const std::string& bytes() const { return bytes_; }
  std::string Take() { return std::move(bytes_); }

 private:
  void Fixed(uint64_t v, int size) {
    for (int i = 0; i < size; ++i) bytes_.push_back(static_cast<char>((v >> (8 * i)) & 0xff));
  }

  std::string bytes_;
};

class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : bytes_(bytes) {}
  uint8_t U8() { return static_cast<uint8_t>(Fixed(1)); }
  uint32_t U32() { return static_cast<uint32_t>(Fixed(4)); }
  uint64_t U64() { return Fixed(8); }
  int64_t I64() { return static_cast<int64_t>(Fixed(8)); }
  std::string Text() {
    const uint32_t size = U32();
    if (size > bytes_.size()) {
      Fail();
      return {};
    }
    std::string text(bytes_.substr(0, size));
    bytes_.remove_prefix(size);
    return text;
  }
  std::vector<std::string> Texts(uint32_t count_max) {
    std::vector<std::string> texts;
    const uint32_t count = U32();
    if (count > count_max) Fail();
    for (uint32_t i = 0; i < count && ok_; ++i) texts.push_back(Text());
    return texts;
  }
  void Fail() {
    ok_ = false;
    bytes_ = {};
  }
  bool ok() const { return ok_; }
  // Everything was read successfully and nothing is left over.
  bool Finished() const { return ok_ && bytes_.empty(); }
  size_t left() const { return bytes_.size(); }

 private:
  uint64_t Fixed(size_t size) {
    if (bytes_.size() < size) {
      Fail();
      return 0;
    }
    uint64_t v = 0;
    for (size_t i = 0; i < size; ++i) {
      v |= static_cast<uint64_t>(static_cast<unsigned char>(bytes_[i])) << (8 * i);
    }
    bytes_.remove_prefix(size);
    return v;
  }

  std::string_view bytes_;
  bool ok_ = true;
};

}  // namespace carillon::executor
