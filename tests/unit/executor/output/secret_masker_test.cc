#include "executor/output/secret_masker.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/base/rng.h"
#include "executor/output/secret_forms.h"

namespace carillon::executor {
namespace {

using Values = std::vector<std::string>;

std::string MaskedInPieces(const Values& values, const std::vector<std::string>& chunks) {
  SecretMasker masker(std::make_shared<const SecretPatterns>(values));
  std::string shown;
  for (const std::string& chunk : chunks) shown += masker.Feed(chunk);
  return shown + masker.End();
}
std::string Masked(const Values& values, const std::string& text) {
  return MaskedInPieces(values, {text});
}

TEST(SecretMaskerTest, ExampleOfTheHeader) {
  SecretMasker masker(std::make_shared<const SecretPatterns>(Values{"hunter22"}));
  EXPECT_EQ(masker.Feed("pass hun"), "pass ");
  EXPECT_EQ(masker.Feed("ter22!"), "***!");
  EXPECT_EQ(masker.End(), "");
}

TEST(SecretMaskerTest, ValuesAreFoundWhereverTheyStand) {
  const Values values{"hunter22", "s3cr3t-value"};
  EXPECT_EQ(Masked(values, "a hunter22 b s3cr3t-value\nhunter22"), "a *** b ***\n***");
  EXPECT_EQ(Masked(values, "mysql://u:hunter22@h"), "mysql://u:***@h");
  EXPECT_EQ(Masked(values, "nothing of it: hunter2, s3cr3t"), "nothing of it: hunter2, s3cr3t");
  EXPECT_EQ(Masked(values, "hunter22hunter22"), "***") << "how many there were is not said";
}

TEST(SecretMaskerTest, ValuesThatOverlapAreLeftOutWhole) {
  EXPECT_EQ(Masked({"abcdefgh", "efghijkl"}, "xabcdefghijklx"), "x***x");
  EXPECT_EQ(Masked({"abcdefgh", "bcde"}, "abcdefg bcde"), "a***fg ***");
  EXPECT_EQ(Masked({"aaaaaaaa"}, std::string(19, 'a')), "***");
}

TEST(SecretMaskerTest, EachLineOfAValueIsOneAndLineEndsStay) {
  const Values values{"-----BEGIN-----\n  c2VjcmV0\nab\n-----END-----\n"};
  EXPECT_EQ(Masked(values, values[0]), "***\n***\n***\n***\n");
  EXPECT_EQ(Masked(values, "> c2VjcmV0 <"), "> *** <");
  EXPECT_EQ(Masked(values, "tab ab"), "tab ab") << "too short to be looked for on its own";
}

TEST(SecretMaskerTest, WhatABrokenOffValueBeganWithIsShownAtTheEnd) {
  EXPECT_EQ(MaskedInPieces({"hunter22"}, {"x hunter", "2"}), "x hunter2");
}

TEST(SecretMaskerTest, AnythingThatIsNoBeginningIsShownAtOnce) {
  SecretMasker masker(std::make_shared<const SecretPatterns>(Values{"hunter22"}));
  EXPECT_EQ(masker.Feed("a line\n"), "a line\n");
  EXPECT_EQ(masker.Feed("hunted\n"), "hunted\n");
}

// Returns the expected text, computed from the whole text without an automaton.
std::string Expected(const Values& values, const std::string& text) {
  std::vector<std::string> patterns;
  const auto trimmed = [](std::string part) {
    part.erase(0, std::min(part.find_first_not_of(" \n"), part.size()));
    part.erase(part.find_last_not_of(" \n") + 1);
    return part;
  };
  for (const std::string& value : values) {
    patterns.push_back(trimmed(value));
    for (size_t from = 0; from <= value.size();) {
      const size_t end = std::min(value.find('\n', from), value.size());
      const std::string line = trimmed(value.substr(from, end - from));
      if (line.size() >= 4) patterns.push_back(line);
      from = end + 1;
    }
  }
  std::vector<bool> covered(text.size());
  for (const std::string& pattern : patterns) {
    if (pattern.empty()) continue;
    for (size_t at = text.find(pattern); at != std::string::npos; at = text.find(pattern, at + 1)) {
      std::fill_n(covered.begin() + static_cast<long>(at), pattern.size(), true);
    }
  }
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool begins = i == 0 || !covered[i - 1] || text[i - 1] == '\n';
    if (!covered[i] || text[i] == '\n') {
      out += text[i];
    } else if (begins) {
      out += "***";
    }
  }
  return out;
}

std::string AnyText(Rng& rng, size_t size) {
  // Few letters, so that prefixes, overlaps and repetitions are frequent.
  constexpr std::string_view kLetters = "aab\n ";
  std::string text;
  for (size_t i = 0; i < size; ++i) text += kLetters[rng.Below(kLetters.size())];
  return text;
}

TEST(SecretMaskerTest, HowTheStreamIsCutDoesNotMatter) {
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng(seed);
    Values values;
    for (uint64_t i = 0; i < 1 + rng.Below(3); ++i) {
      values.push_back(AnyText(rng, 8 + rng.Below(6)));
    }
    std::string text;
    std::vector<std::string> chunks;
    for (uint64_t i = 0; i < 1 + rng.Below(8); ++i) {
      chunks.push_back(rng.Chance(0.3) ? values[rng.Below(values.size())]
                                       : AnyText(rng, rng.Below(20)));
      text += chunks.back();
    }
    const std::string expected = Expected(values, text);
    ASSERT_EQ(Masked(values, text), expected) << "seed " << seed;
    ASSERT_EQ(MaskedInPieces(values, chunks), expected) << "seed " << seed;
    std::vector<std::string> bytes;
    for (const char byte : text) bytes.emplace_back(1, byte);
    ASSERT_EQ(MaskedInPieces(values, bytes), expected) << "seed " << seed;
  }
}

TEST(SecretMaskerTest, EscapedValuesAreFoundToo) {
  const Values values{"pa\"ss\\word\nline2 \xc3\xa4\xf0\x9f\x94\x91+/="};
  for (const char* escaped :
       {R"(pa\"ss\\word\u000aline2 )"
        "\xc3\xa4\xf0\x9f\x94\x91+/=",  // Carillon's own JSON
        R"(pa\"ss\\word\nline2 \u00e4\ud83d\udd11+\/=)",
        R"(pa\u0022ss\u005Cword\u000Aline2 \u00E4\uD83D\uDD11\u002B/\u003D)",
        R"(pa\x22ss\\word\x0aline2 \303\244\360\237\224\221+/=)",
        "pa%22ss%5Cword%0Aline2%20%C3%A4%F0%9F%94%91%2B%2F%3D",  // Carillon's own forms
        "pa%22ss%5cword%0aline2+%c3%a4%f0%9f%94%91%2b/%3d"}) {
    const std::string text = std::string("a ") + escaped + " z";
    EXPECT_EQ(Masked(values, text), "a *** z") << text;
    std::vector<std::string> bytes;
    for (const char byte : text) bytes.emplace_back(1, byte);
    EXPECT_EQ(MaskedInPieces(values, bytes), "a *** z") << text;
  }
}

TEST(SecretMaskerTest, WhatIsNoWholeEscapeIsItself) {
  const Values values{"12345678", "abc\\qdef", "%4x%%41+"};
  EXPECT_EQ(Masked(values, R"(\u00 \uD83D\u0041 \q % %4 %zz \ + 50%)"),
            R"(\u00 \uD83D\u0041 \q % %4 %zz \ + 50%)");
  EXPECT_EQ(Masked(values, "\\u00312345678"), "***") << "1 as \\u0031";
  EXPECT_EQ(Masked(values, "\\u0012345678"), "\\u00***") << "a control character, or the value";
  EXPECT_EQ(Masked(values, "abc\\qdef %4x%%41+"), "*** ***");
  EXPECT_EQ(MaskedInPieces(values, {"x\\", "u00", "3"}), "x\\u003");
}

TEST(SecretMaskerTest, ShellQuotedAndBase64FormsAreFound) {
  const Values values{"it's a s3cret"};
  EXPECT_EQ(Masked(values, R"(+ echo 'it'\''s a s3cret')"), "+ echo '***'");
  EXPECT_EQ(Masked(values, R"(+ echo 'it'"'"'s a s3cret')"), "+ echo '***'");
  EXPECT_EQ(Masked(values, R"(it\'s\ a\ s3cret)"), "***");
  EXPECT_EQ(Masked({"hunter22"}, "aHVudGVyMjI="), "***");
  EXPECT_EQ(Masked({"hunter22"}, "Basic dTpodW50ZXIyMg=="), "Basic dTp***g==") << "u:";
  EXPECT_EQ(Masked({"hunter22"}, "Basic dXU6aHVudGVyMjI="), "Basic dXU6***") << "uu:";
  EXPECT_EQ(Masked({"hunter22"}, "Basic dXV1Omh1bnRlcjIy"), "Basic dXV1Om***") << "uuu:";
  EXPECT_EQ(Masked({"\xff\xfe\xfd\xfb\xff\xfe\xfd\xfb"}, "__79-__-_fs="), "***") << "URL-safe";
}

TEST(SecretMaskerTest, HtmlAndXmlFormsAreFound) {
  const Values values{R"(a<b>'c' & "d")"};
  for (const char* escaped :
       {R"(a&lt;b&gt;'c' &amp; "d")", "a&lt;b&gt;&#39;c&#39; &amp; &quot;d&quot;",
        "a&lt;b&gt;&#x27;c&#x27; &amp; &quot;d&quot;", "a&lt;b&gt;&#39;c&#39; &amp; &#34;d&#34;",
        "a&lt;b&gt;&apos;c&apos; &amp; &quot;d&quot;", "a&lt;b&gt;'c' &amp; &quot;d&quot;"}) {
    EXPECT_EQ(Masked(values, std::string("<p>") + escaped + "</p>"), "<p>***</p>") << escaped;
  }
}

TEST(SecretMaskerTest, FormsOfEachLineAreFound) {
  const Values values{"it's one\nan'd t&o"};
  EXPECT_EQ(Masked(values, R"(echo 'it'\''s one')"), "echo '***'");
  EXPECT_EQ(Masked(values, "<p>an'd t&amp;o</p>"), "<p>***</p>");
}

TEST(SecretMaskerTest, Base64InLinesIsFound) {
  std::string value;
  for (int i = 0; i < 100; ++i) value += static_cast<char>('!' + i % 90);
  const std::string whole = Base64Forms(value)[3];
  ASSERT_EQ(whole.size(), 136u);
  EXPECT_EQ(Masked({value}, whole.substr(0, 76) + "\n" + whole.substr(76) + "\n"), "***\n***\n");
  EXPECT_EQ(Masked({value}, whole), "***");
}

TEST(SecretMaskerTest, AnyMixtureOfEscapesIsFoundHoweverTheStreamIsCut) {
  constexpr std::string_view kLetters = "ab\\%+\" u0\n";
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng(seed);
    std::string value = "a";
    for (int i = 0; i < 8; ++i) value += kLetters[rng.Below(kLetters.size())];
    value += "b";
    const bool percent = rng.Chance(0.5);
    std::string escaped;
    for (const char c : value) {
      const bool must = c == '\\' || c == '"' || c == '%' || c == '+' || c == '\n';
      const auto code = static_cast<unsigned>(static_cast<unsigned char>(c));
      if (percent && (must || rng.Chance(0.2))) {
        escaped += fmt::format("%{:02X}", code);
      } else if (!percent && (must || rng.Chance(0.2))) {
        escaped += fmt::format("\\u{:04x}", code);
      } else {
        escaped += c;
      }
    }
    const std::string text = "x: " + escaped + ";";
    ASSERT_EQ(Masked({value}, text), "x: ***;") << "seed " << seed << ": " << text;
    std::vector<std::string> pieces;
    for (size_t at = 0; at < text.size();) {
      pieces.push_back(text.substr(at, 1 + rng.Below(3)));
      at += pieces.back().size();
    }
    ASSERT_EQ(MaskedInPieces({value}, pieces), "x: ***;") << "seed " << seed << ": " << text;
  }
}

TEST(SecretMaskerTest, EscapesThatAreNoneDoNotChangeWhereTheStreamMayBeCut) {
  constexpr std::string_view kLetters = "aab\\u0%61+";
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    Rng rng(seed);
    const auto any = [&](size_t size) {
      std::string made;
      for (size_t i = 0; i < size; ++i) made += kLetters[rng.Below(kLetters.size())];
      return made;
    };
    const Values values{any(4), any(5)};
    const std::string text = any(60);
    std::vector<std::string> bytes;
    for (const char byte : text) bytes.emplace_back(1, byte);
    ASSERT_EQ(MaskedInPieces(values, bytes), Masked(values, text)) << "seed " << seed;
  }
}

TEST(SecretFormsTest, LongValuesHaveNoFormsAndAllTogetherHaveABound) {
  EXPECT_TRUE(FormsOf({std::string(kBase64ValueBytesMax + 1, 'a')}).empty());
  size_t bytes = 0;
  for (const std::string& form : FormsOf(Values(64, std::string(kBase64ValueBytesMax, 'a'))))
    bytes += form.size();
  EXPECT_LE(bytes, kFormBytesMax);
  EXPECT_GT(bytes, kFormBytesMax / 2);
}

// With quadratic time this test would take minutes.
TEST(SecretMaskerTest, LargeValuesTakeLinearTime) {
  const std::string same(64u << 10, 'a');
  SecretMasker masker(std::make_shared<const SecretPatterns>(Values{same, same.substr(1) + "b"}));
  std::string shown;
  for (int i = 0; i < 64; ++i) shown += masker.Feed(same.substr(0, 32u << 10));
  EXPECT_EQ(shown + masker.End(), "***");
}

}  // namespace
}  // namespace carillon::executor
