// Character sets: their names, and the conversion of text into UTF-8.
//
// Names are those of the WHATWG Encoding Standard with their aliases, in any case; as there,
// "iso-8859-1" is windows-1252 and "gbk" is gb18030. The conversion is that of the C library.
//
//   ToUtf8("\xd6\xb4\xd0\xd0", "gbk")  ->  "执行"
//
// Always   What cannot be decoded becomes U+FFFD. The mark at the beginning of a Unicode text (BOM)
//          is dropped.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "common/base/result.h"

namespace carillon {

// Does not depend on the host.
bool IsCharset(std::string_view name);

// The name of the Unicode charset whose mark (BOM) `text` begins with; "" = no mark.
std::string_view CharsetOfMark(std::string_view text);

// Decodes a stream. The result does not depend on how the stream is split.
//
// Owns     The bytes of one character that is not complete yet.
class CharsetDecoder {
 public:
  // kInvalid: no such name. kUnavailable: this host cannot convert from it.
  static Result<CharsetDecoder> Open(std::string_view name);

  std::string Feed(std::string_view bytes);
  // Call it when no more bytes follow. An incomplete character becomes U+FFFD.
  std::string End();

 private:
  struct Close {
    void operator()(void* handle) const;
  };
  explicit CharsetDecoder(void* handle) : handle_(handle) {}
  void Convert(std::string_view& bytes, std::string& out);
  void Flush(std::string& out);
  std::string WithoutMark(std::string text);

  std::unique_ptr<void, Close> handle_;  // an iconv_t; null: UTF-8
  size_t unit_ = 1;                      // bytes that are skipped when they cannot be decoded
  bool composes_ = false;                // the converter holds back a character that may combine
  bool refused_ = false;                 // the last call ended at bytes that cannot be decoded
  bool marked_ = false;                  // a mark is to be dropped if it comes next
  std::string rest_;                     // an incomplete character
};

// A whole text; errors as of Open.
Result<std::string> ToUtf8(std::string_view bytes, std::string_view charset);

}  // namespace carillon
