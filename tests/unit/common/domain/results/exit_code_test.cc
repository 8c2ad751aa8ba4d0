#include "common/domain/results/exit_code.h"

#include <gtest/gtest.h>

namespace carillon::exit_code_test {
namespace {

TEST(ExitCodeTest, SignalsBehindAShellAreNamed) {
  const struct {
    int code;
    const char* text;
  } rows[] = {{0, "0"},
              {1, "1"},
              {127, "127"},
              {128, "128"},
              {129, "129 (128 + 1: SIGHUP)"},
              {130, "130 (128 + 2: SIGINT)"},
              {134, "134 (128 + 6: SIGABRT)"},
              {137, "137 (128 + 9: SIGKILL; often out of memory)"},
              {139, "139 (128 + 11: SIGSEGV)"},
              {141, "141 (128 + 13: SIGPIPE)"},
              {143, "143 (128 + 15: SIGTERM)"},
              {162, "162 (128 + 34: signal 34)"},
              {192, "192 (128 + 64: signal 64)"},
              {193, "193"},
              {255, "255"}};
  for (const auto& [code, text] : rows) EXPECT_EQ(ExitCodeText(code), text);
}

TEST(ExitCodeTest, OnlyNumbersOfSignalsAreSignals) {
  for (int code = -1; code <= 256; ++code) {
    EXPECT_EQ(SignalOfExitCode(code).has_value(), code >= 129 && code <= 192) << code;
  }
}

}  // namespace
}  // namespace carillon::exit_code_test
