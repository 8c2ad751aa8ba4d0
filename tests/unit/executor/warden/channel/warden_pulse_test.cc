#include "executor/warden/channel/warden_pulse.h"

#include <gtest/gtest.h>

namespace carillon::executor {
namespace {

constexpr SteadyTime kStart{1000s};

TEST(WardenPulseTest, FallsSilentWhenPingsStayUnansweredAndIsBackWithTheFirstAnswer) {
  WardenPulse pulse;
  pulse.Begin(kStart);
  EXPECT_FALSE(pulse.Due(kStart + 999ms));
  for (int second = 1; second <= 3; ++second) {
    EXPECT_TRUE(pulse.Due(kStart + second * 1s));
    EXPECT_FALSE(pulse.silent());
  }
  EXPECT_FALSE(pulse.Due(kStart + 4s)) << "no further ping";
  EXPECT_TRUE(pulse.silent());
  pulse.Heard();
  EXPECT_FALSE(pulse.silent());
  EXPECT_TRUE(pulse.Due(kStart + 5s));
}

TEST(WardenPulseTest, DaemonThatWasStoppedItselfFindsNobodySilent) {
  WardenPulse pulse;
  pulse.Begin(kStart);
  EXPECT_TRUE(pulse.Due(kStart + 1s));
  EXPECT_TRUE(pulse.Due(kStart + 1h));
  EXPECT_FALSE(pulse.Due(kStart + 1h));
  EXPECT_FALSE(pulse.silent());
}

}  // namespace
}  // namespace carillon::executor
