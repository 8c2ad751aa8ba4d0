#include "common/base/charset.h"

#include <iconv.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <iterator>

#include <fmt/format.h>

#include "common/base/lower_case.h"

namespace carillon {
namespace {

constexpr std::string_view kUndecodable = "\xef\xbf\xbd";  // U+FFFD
constexpr std::string_view kMark = "\xef\xbb\xbf";         // U+FEFF

struct Charset {
  std::string_view converter;  // its name for iconv; "" = UTF-8, where iconv accepts too much
  std::string_view names;      // separated by blanks
  size_t unit = 1;
  bool composes = false;
  bool unicode = false;
};

constexpr std::array kCharsets{
    Charset{.converter = "",
            .names = "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
            .unicode = true},
    Charset{"UTF-16", "utf-16 unicode ucs-2 csunicode iso-10646-ucs-2 unicodefeff", 2, false, true},
    Charset{"UTF-16LE", "utf-16le", 2, false, true},
    Charset{"UTF-16BE", "utf-16be unicodefffe", 2, false, true},
    Charset{"UTF-32", "utf-32", 4, false, true},
    Charset{"UTF-32LE", "utf-32le", 4, false, true},
    Charset{"UTF-32BE", "utf-32be", 4, false, true},
    Charset{"GB18030",
            "gb18030 gbk gb2312 x-gbk cp936 ms936 chinese csgb2312 gb_2312 gb_2312-80 euc-cn "
            "csiso58gb231280 iso-ir-58"},
    Charset{"BIG5-HKSCS", "big5 big5-hkscs cn-big5 csbig5 x-x-big5 cp950", 1, true},
    Charset{"CP932", "shift_jis shift-jis sjis x-sjis ms_kanji csshiftjis windows-31j cp932 ms932"},
    Charset{"EUC-JP-MS", "euc-jp eucjp x-euc-jp cseucpkdfmtjapanese"},
    Charset{"ISO-2022-JP", "iso-2022-jp csiso2022jp"},
    Charset{"UHC",
            "euc-kr euckr cseuckr korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 "
            "csksc56011987 iso-ir-149 "
            "windows-949 cp949 ms949 uhc"},
    Charset{"CP1252",
            "windows-1252 cp1252 x-cp1252 iso-8859-1 iso8859-1 iso88591 iso_8859-1 latin1 l1 "
            "us-ascii ascii ansi_x3.4-1968 "
            "iso_8859-1:1987 iso-ir-100 csisolatin1 cp819 ibm819"},
    Charset{"ISO-8859-2",
            "iso-8859-2 iso8859-2 iso88592 iso_8859-2 latin2 l2 iso_8859-2:1987 "
            "iso-ir-101 csisolatin2"},
    Charset{"ISO-8859-3",
            "iso-8859-3 iso8859-3 iso88593 iso_8859-3 latin3 l3 iso_8859-3:1988 "
            "iso-ir-109 csisolatin3"},
    Charset{"ISO-8859-4",
            "iso-8859-4 iso8859-4 iso88594 iso_8859-4 latin4 l4 iso_8859-4:1988 "
            "iso-ir-110 csisolatin4"},
    Charset{"ISO-8859-5",
            "iso-8859-5 iso8859-5 iso88595 iso_8859-5 cyrillic "
            "iso_8859-5:1988 iso-ir-144 csisolatincyrillic"},
    Charset{"ISO-8859-6",
            "iso-8859-6 iso8859-6 iso88596 iso_8859-6 arabic "
            "iso_8859-6:1987 iso-ir-127 csisolatinarabic asmo-708 ecma-114 csiso88596e csiso88596i "
            "iso-8859-6-e iso-8859-6-i"},
    Charset{"ISO-8859-7",
            "iso-8859-7 iso8859-7 iso88597 iso_8859-7 greek greek8 "
            "iso_8859-7:1987 iso-ir-126 csisolatingreek ecma-118 elot_928 sun_eu_greek"},
    Charset{
        "ISO-8859-8",
        "iso-8859-8 iso8859-8 iso88598 iso_8859-8 iso-8859-8-i hebrew "
        "iso_8859-8:1988 iso-ir-138 csisolatinhebrew csiso88598e csiso88598i iso-8859-8-e logical "
        "visual"},
    Charset{"CP1254",
            "windows-1254 cp1254 x-cp1254 iso-8859-9 iso8859-9 iso88599 iso_8859-9 latin5 l5 "
            "iso_8859-9:1989 iso-ir-148 csisolatin5"},
    Charset{"ISO-8859-10", "iso-8859-10 iso8859-10 iso885910 latin6 l6 iso-ir-157 csisolatin6"},
    Charset{"CP874", "windows-874 cp874 tis-620 iso-8859-11 iso8859-11 iso885911 dos-874"},
    Charset{"ISO-8859-13", "iso-8859-13 iso8859-13 iso885913"},
    Charset{"ISO-8859-14", "iso-8859-14 iso8859-14 iso885914"},
    Charset{"ISO-8859-15", "iso-8859-15 iso8859-15 iso885915 iso_8859-15 latin9 l9 csisolatin9"},
    Charset{"ISO-8859-16", "iso-8859-16 iso8859-16 iso885916"},
    Charset{"CP1250", "windows-1250 cp1250 x-cp1250"},
    Charset{"CP1251", "windows-1251 cp1251 x-cp1251"},
    Charset{"CP1253", "windows-1253 cp1253 x-cp1253"},
    Charset{"CP1255", "windows-1255 cp1255 x-cp1255", 1, true},
    Charset{"CP1256", "windows-1256 cp1256 x-cp1256"},
    Charset{"CP1257", "windows-1257 cp1257 x-cp1257"},
    Charset{"CP1258", "windows-1258 cp1258 x-cp1258", 1, true},
    Charset{"KOI8-R", "koi8-r koi8 koi8_r koi cskoi8r"},
    Charset{"KOI8-U", "koi8-u koi8-ru"},
    Charset{"MACINTOSH", "macintosh mac x-mac-roman csmacintosh"},
    Charset{"MAC-CYRILLIC", "x-mac-cyrillic x-mac-ukrainian"},
    Charset{"IBM437", "ibm437 cp437"},
    Charset{"IBM850", "ibm850 cp850"},
    Charset{"IBM852", "ibm852 cp852"},
    Charset{"IBM866", "ibm866 cp866 866 csibm866"},
};

bool HasName(const Charset& charset, std::string_view name) {
  std::string_view names = charset.names;
  for (;;) {
    const size_t blank = names.find(' ');
    if (names.substr(0, blank) == name) return true;
    if (blank == std::string_view::npos) return false;
    names.remove_prefix(blank + 1);
  }
}

const Charset* CharsetNamed(std::string_view name) {
  const std::string lower = LowerCase(name);
  const auto* const found =
      std::find_if(kCharsets.begin(), kCharsets.end(),
                   [&lower](const Charset& one) { return HasName(one, lower); });
  return found != kCharsets.end() ? &*found : nullptr;
}

// The bytes that may follow the first byte of a character in UTF-8.
struct Utf8Form {
  size_t size = 0;  // 0: no character begins so
  unsigned char second_min = 0x80;
  unsigned char second_max = 0xBF;
};

Utf8Form FormOf(unsigned char first) {
  if (first < 0x80) return {1};
  if (first < 0xC2 || first > 0xF4) return {};
  if (first < 0xE0) return {2};
  if (first == 0xE0) return {3, 0xA0, 0xBF};
  if (first == 0xED) return {3, 0x80, 0x9F};
  if (first < 0xF0) return {3};
  if (first == 0xF0) return {4, 0x90, 0xBF};
  if (first == 0xF4) return {4, 0x80, 0x8F};
  return {4};
}

// The number of bytes that are the beginning of one character.
size_t Matching(std::string_view bytes, const Utf8Form& form) {
  size_t count = 1;
  while (count < form.size && count < bytes.size()) {
    const auto byte = static_cast<unsigned char>(bytes[count]);
    const unsigned char min = count == 1 ? form.second_min : 0x80;
    const unsigned char max = count == 1 ? form.second_max : 0xBF;
    if (byte < min || byte > max) break;
    ++count;
  }
  return count;
}

// Copies until `bytes` is empty or begins with an incomplete character.
void CopyUtf8(std::string_view& bytes, std::string& out) {
  while (!bytes.empty()) {
    const Utf8Form form = FormOf(static_cast<unsigned char>(bytes.front()));
    const size_t count = Matching(bytes, form);
    if (count < form.size && count == bytes.size()) return;
    out += count == form.size ? bytes.substr(0, count) : kUndecodable;
    bytes.remove_prefix(count);
  }
}

}  // namespace

bool IsCharset(std::string_view name) { return CharsetNamed(name) != nullptr; }

std::string_view CharsetOfMark(std::string_view text) {
  using std::string_view_literals::operator""sv;
  // That of UTF-32 begins as that of UTF-16 does.
  if (text.starts_with("\xff\xfe\0\0"sv)) return "utf-32le";
  if (text.starts_with("\0\0\xfe\xff"sv)) return "utf-32be";
  if (text.starts_with("\xff\xfe"sv)) return "utf-16le";
  if (text.starts_with("\xfe\xff"sv)) return "utf-16be";
  return text.starts_with(kMark) ? "utf-8" : "";
}

void CharsetDecoder::Close::operator()(void* handle) const {
  if (handle != nullptr) iconv_close(handle);
}

Result<CharsetDecoder> CharsetDecoder::Open(std::string_view name) {
  const Charset* charset = CharsetNamed(name);
  if (charset == nullptr) {
    return {ErrorCode::kInvalid, fmt::format("{} is not the name of a character set", name)};
  }
  iconv_t handle = charset->converter.empty()
                       ? nullptr
                       : iconv_open("UTF-8", std::string(charset->converter).c_str());
  // iconv_open returns -1, which is no pointer, for a failure.
  if (handle == reinterpret_cast<iconv_t>(-1)) {  // NOLINT(performance-no-int-to-ptr)
    return {ErrorCode::kUnavailable,
            fmt::format("the C library of this host cannot convert from {}: its converters "
                        "(gconv) are not installed",
                        name)};
  }
  CharsetDecoder decoder(handle);
  decoder.unit_ = charset->unit;
  decoder.composes_ = charset->composes;
  decoder.marked_ = charset->unicode;
  return decoder;
}

// Converts until `bytes` is empty or begins with an incomplete character.
//
// After a byte that cannot be decoded, iconv stands before it, or, for some pairs of UHC, behind
// it: it is asked again, and only what it refuses twice is skipped.
void CharsetDecoder::Convert(std::string_view& bytes, std::string& out) {
  if (handle_ == nullptr) return CopyUtf8(bytes, out);
  std::array<char, 4096> buffer;  // NOLINT: iconv writes before it is read
  while (!bytes.empty()) {
    char* from = const_cast<char*>(bytes.data());  // NOLINT: iconv does not write there
    const size_t size = bytes.size();
    size_t from_left = size;
    char* to = buffer.data();
    size_t to_left = buffer.size();
    const size_t done = iconv(handle_.get(), &from, &from_left, &to, &to_left);
    const int fault = done == static_cast<size_t>(-1) ? errno : 0;
    out.append(buffer.data(), buffer.size() - to_left);
    bytes.remove_prefix(bytes.size() - from_left);
    const bool refused_again = refused_ && from_left == size && to == buffer.data();
    if (from_left != size) refused_ = false;
    if (fault == 0 || fault == E2BIG) continue;
    if (fault == EINVAL) return;
    if (refused_again) {
      bytes.remove_prefix(std::min(unit_, bytes.size()));
      refused_ = false;
      continue;
    }
    if (composes_) Flush(out);
    out += kUndecodable;
    refused_ = true;
  }
}

void CharsetDecoder::Flush(std::string& out) {
  std::array<char, 64> buffer;  // NOLINT
  char* to = buffer.data();
  size_t to_left = buffer.size();
  iconv(handle_.get(), nullptr, nullptr, &to, &to_left);
  out.append(buffer.data(), buffer.size() - to_left);
}

std::string CharsetDecoder::WithoutMark(std::string text) {
  // A converter writes whole characters only.
  if (!marked_ || text.empty()) return text;
  marked_ = false;
  if (text.starts_with(kMark)) text.erase(0, kMark.size());
  return text;
}

std::string CharsetDecoder::Feed(std::string_view bytes) {
  std::string out;
  if (!rest_.empty()) {
    rest_ += bytes;
    bytes = rest_;
  }
  Convert(bytes, out);
  rest_ = std::string(bytes);
  return WithoutMark(std::move(out));
}

std::string CharsetDecoder::End() {
  std::string out;
  if (composes_) Flush(out);
  if (!rest_.empty()) out += kUndecodable;
  rest_.clear();
  return WithoutMark(std::move(out));
}

Result<std::string> ToUtf8(std::string_view bytes, std::string_view charset) {
  auto decoder = CharsetDecoder::Open(charset);
  if (!decoder.ok()) return decoder.error();
  std::string text = decoder->Feed(bytes);
  return text + decoder->End();
}

}  // namespace carillon
