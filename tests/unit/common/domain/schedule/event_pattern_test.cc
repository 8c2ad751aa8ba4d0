#include "common/domain/schedule/event_pattern.h"

#include <gtest/gtest.h>

#include <string>

#include "common/domain/schedule/schedule.h"

namespace carillon::test {
namespace {

ScheduleSpec PatternOf(std::string type, std::string source = "") {
  return {.kind = ScheduleKind::kEvent,
          .event_type = std::move(type),
          .event_source = std::move(source)};
}

std::string PatternRefusedAt(const ScheduleSpec& spec) {
  const Status status = CheckEventPattern(spec);
  const auto compiled = Schedule::Compile(spec, DstGap::kFire, DstRepeat::kAuto);
  EXPECT_EQ(compiled.ok(), status.ok());
  if (status.ok()) return "";
  EXPECT_EQ(compiled.error().pointer, status.error().pointer);
  EXPECT_EQ(status.code(), ErrorCode::kInvalid);
  return status.error().pointer;
}

TEST(EventPatternTest, ATypeIsWholeOrHasAStarAtItsEnd) {
  for (const std::string type : {"order.created", "order.*", "order*", "*", "a", "Größe", "a b"}) {
    EXPECT_EQ(PatternRefusedAt(PatternOf(type)), "") << type;
  }
  for (const std::string type :
       {"", "*.created", "order.*.paid", "**", "order.**", "a\nb", "\xff"}) {
    EXPECT_EQ(PatternRefusedAt(PatternOf(type)), "/type") << type;
  }
  EXPECT_EQ(PatternRefusedAt(PatternOf(std::string("a\0b", 3))), "/type");
  EXPECT_EQ(PatternRefusedAt(PatternOf(std::string(255, 't'))), "");
  EXPECT_EQ(PatternRefusedAt(PatternOf(std::string(256, 't'))), "/type");
}

TEST(EventPatternTest, ASourceIsWholeOrMissing) {
  for (const std::string source : {"", "shop", "https://shop.example/*/orders", "a*b"}) {
    EXPECT_EQ(PatternRefusedAt(PatternOf("t", source)), "") << source;
  }
  for (const std::string source : {"*", "shop/*", "a\tb", "\xff"}) {
    EXPECT_EQ(PatternRefusedAt(PatternOf("t", source)), "/source") << source;
  }
  EXPECT_EQ(PatternRefusedAt(PatternOf("t", std::string(512, 's'))), "");
  EXPECT_EQ(PatternRefusedAt(PatternOf("t", std::string(513, 's'))), "/source");
}

TEST(EventPatternTest, AStarStandsForAnyEnd) {
  EXPECT_TRUE(FitsEventType("order.paid", "order.paid"));
  EXPECT_FALSE(FitsEventType("order.paid", "order.paid2"));
  EXPECT_FALSE(FitsEventType("order.paid", "Order.paid"));
  EXPECT_TRUE(FitsEventType("order.*", "order.paid"));
  EXPECT_TRUE(FitsEventType("order.*", "order."));
  EXPECT_FALSE(FitsEventType("order.*", "order"));
  EXPECT_FALSE(FitsEventType("order.*", "reorder.paid"));
  EXPECT_TRUE(FitsEventType("*", "anything"));
  // A star in the type of an event is a character as any other.
  EXPECT_FALSE(FitsEventType("order.paid", "order.*"));
}

}  // namespace
}  // namespace carillon::test
