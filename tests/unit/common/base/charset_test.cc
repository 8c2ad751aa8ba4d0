#include "common/base/charset.h"

#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "tests/fuzz/charset_check.h"

namespace carillon {
namespace {

using std::string_view_literals::operator""sv;

std::string Utf8(std::string_view bytes, std::string_view charset) {
  return ToUtf8(bytes, charset).value_or("?");
}

TEST(CharsetTest, TextOfManyPlacesBecomesUtf8) {
  EXPECT_EQ(Utf8("\326\264\320\320\263\311\271\246", "gb18030"), "执行成功");
  EXPECT_EQ(Utf8("\326\264\320\320\263\311\271\246", "GBK"), "执行成功");
  EXPECT_EQ(Utf8("\x83\x65\x83\x58\x83\x67", "Shift_JIS"), "テスト");
  EXPECT_EQ(Utf8("\xa5\xc6\xa5\xb9\xa5\xc8", "euc-jp"), "テスト");
  EXPECT_EQ(Utf8("\x1b$B%F%9%H\x1b(B", "iso-2022-jp"), "テスト");
  EXPECT_EQ(Utf8("\xb4\xfa\xb8\xd5", "big5"), "測試");
  EXPECT_EQ(Utf8("\xc5\xd7\xbd\xba\xc6\xae", "euc-kr"), "테스트");
  EXPECT_EQ(Utf8("\xd4\xc5\xd3\xd4", "koi8-r"), "тест");
  EXPECT_EQ(Utf8("\xf2\xe5\xf1\xf2", "windows-1251"), "тест");
  EXPECT_EQ(Utf8("caf\xe9 \x80", "iso-8859-1"), "café €") << "as browsers read it";
  EXPECT_EQ(Utf8("\xf2\xe5\xf1\xf2", "x-mac-cyrillic"), "тест");
  EXPECT_EQ(Utf8("\xa4", "iso-8859-15"), "€");
  EXPECT_EQ(Utf8("h\0i\0"sv, "utf-16le"), "hi");
}

TEST(CharsetTest, NamesAreCheckedWithoutTheHost) {
  for (const char* name : test::kFuzzedCharsets) EXPECT_TRUE(IsCharset(name)) << name;
  for (const char* name :
       {"latin1", "US-ASCII", "sjis", "cp936", "Windows-31J", "csISOLatin1", "cp819", "ibm819",
        "dos-874", "iso-ir-58", "ISO_8859-2:1987", "x-mac-cyrillic", "unicodeFFFE", "visual"})
    EXPECT_TRUE(IsCharset(name)) << name;
  for (const char* name : {"", " ", "gbk ", "gbk big5", "gb", "utf-7", "gbk//TRANSLIT", "x"})
    EXPECT_FALSE(IsCharset(name)) << name;
  EXPECT_EQ(ToUtf8("a", "klingon").code(), ErrorCode::kInvalid);
}

TEST(CharsetTest, WhatCannotBeDecodedIsReplaced) {
  EXPECT_EQ(Utf8("a\xff\xff z", "gb18030"), "a\ufffd\ufffd z");
  EXPECT_EQ(Utf8("a\xd6", "gb18030"), "a\ufffd") << "the end of a character is missing";
  EXPECT_EQ(Utf8("\xd8\0x\0"sv, "utf-16le"), "\u00d8x");
  EXPECT_EQ(Utf8("\0\xd8x\0"sv, "utf-16le"), "\ufffdx") << "half a pair";
  EXPECT_EQ(Utf8("caf\xe9", "utf-8"), "caf\ufffd");
  EXPECT_EQ(Utf8("\xf4\x9a\xaa\x83 \xed\xa0\x80 \xe4\xbd.", "utf-8"),
            "\ufffd\ufffd\ufffd\ufffd \ufffd\ufffd\ufffd \ufffd.")
      << "beyond Unicode, a surrogate, two thirds of a character";
  EXPECT_EQ(Utf8("a\xa2\xe8"
                 "7",
                 "euc-kr"),
            "a\ufffd7")
      << "iconv stands behind this pair";
}

TEST(CharsetTest, MarksAreReadAndDropped) {
  EXPECT_EQ(CharsetOfMark("\xef\xbb\xbfx"), "utf-8");
  EXPECT_EQ(CharsetOfMark("\xff\xfe{\0"sv), "utf-16le");
  EXPECT_EQ(CharsetOfMark("\xfe\xff\0{"sv), "utf-16be");
  EXPECT_EQ(CharsetOfMark("\xff\xfe\0\0{\0\0\0"sv), "utf-32le");
  EXPECT_EQ(CharsetOfMark("\0\0\xfe\xff"sv), "utf-32be");
  EXPECT_EQ(CharsetOfMark("{}"), "");
  EXPECT_EQ(Utf8("\xff\xfe{\0"sv, "utf-16le"), "{");
  EXPECT_EQ(Utf8("\xfe\xff\0{"sv, "utf-16"), "{");
  EXPECT_EQ(Utf8("\xef\xbb\xbf{", "utf-8"), "{");
}

TEST(CharsetTest, HowTheStreamIsCutDoesNotMatter) {
  constexpr std::string_view kFrequent = "\x1b$B(J\x88\x62 a\x81\x30\xd8\xec\0\xfe\xff"sv;
  for (uint64_t seed = 0; seed < 4000; ++seed) {
    Rng rng(seed);
    std::string bytes;
    for (uint64_t i = rng.Below(60); i > 0; --i) {
      bytes += rng.Chance(0.5) ? kFrequent[rng.Below(kFrequent.size())]
                               : static_cast<char>(rng.Below(256));
    }
    const char* name = test::kFuzzedCharsets[rng.Below(test::kFuzzedCharsets.size())];
    ASSERT_EQ(test::CheckCharset(bytes, name, 1 + rng.Below(4)), "") << "seed " << seed;
  }
}

}  // namespace
}  // namespace carillon
